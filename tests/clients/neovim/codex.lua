-- A Codex project is opened without any settings: a mistake is seen and corrected, also in a folder of agents below.

local support = require('support')

support.play(function()
  support.wait_for_diagnostics({ 'unknown-key model_reasoning_efort' })
  support.replace('efort', 'effort')
  support.wait_for_diagnostics({})
  vim.cmd('silent write')
  vim.cmd('edit team/lead.toml')
  support.wait_for_diagnostics({ 'unknown-key modle' })
  support.replace('modle', 'model')
  support.wait_for_diagnostics({})
end)

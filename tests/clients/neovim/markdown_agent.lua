-- An agent of Claude Code is opened without any settings: a mistake is seen and corrected.

local support = require('support')

support.play(function()
  support.wait_for_diagnostics({ 'unknown-tool Greb' })
  support.replace('Greb', 'Grep')
  support.wait_for_diagnostics({})
  vim.cmd('silent write')
end)

-- A user who does not trust a project has its agents checked and none of them run.

local support = require('support')

support.play(function()
  local notices = support.notices()
  local untrusted = { init_options = { trusted = false } }
  if vim.fn.has('nvim-0.11') == 1 then
    vim.lsp.config('axe_lsp', untrusted)
  else
    vim.g.axe_lsp = untrusted
  end
  vim.cmd('edit axe/agents/manager.toml')
  support.wait_for_diagnostics({ 'negative-timeout -30', 'unknown-agent "ghost"', 'max-depth 6' })
  support.replace('-30', '30')
  support.replace('ghost', 'slow')
  support.replace('max_depth = 6', 'max_depth = 5')
  support.wait_for_diagnostics({})
  vim.cmd('AxeRun Review the change')
  support.wait_for('the refusal', function()
    return #notices > 0
  end)
  assert(notices[1]:find('agents do not run in an untrusted workspace', 1, true), vim.inspect(notices))
  assert(support.runs_text() == '', support.runs_text())
  vim.cmd('AxePreview')
  support.wait_for('the preview', function()
    return support.buffer_with('=== Dry Run ===')
  end)
end)

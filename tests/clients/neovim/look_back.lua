-- A user who has started Neovim anew looks at a run of before, in a buffer that is no agent.

local support = require('support')

support.play(function()
  local waits = { began = '2026-11-21T10:04:12.000Z', status = 'running', waits = true, agent = 'asker', task = 'Go' }
  assert(require('axe_lsp.words').past(waits):find('  waiting  asker: Go', 1, true))
  vim.ui.select = function(runs, options, show)
    local shown = options.format_item(runs[1])
    assert(#runs == 2 and shown:find('  cancelled  manager: Review the change', 1, true), shown)
    show(runs[1])
  end
  vim.cmd('AxeRuns')
  support.wait_for('the run', function()
    return vim.fn.bufname():find('^axe://runs/')
  end)
  local shown = support.shown(0)
  assert(shown:find('■ manager: Review the change  [%d.]+ s · 1 turn · '), shown)
  assert(shown:find('\n    │ No bugs found.\n  ■ slow: Look at the style  [%d.]+ s', 1), shown)
  assert(vim.fn.line('.') == 1)
  vim.cmd('normal s')
  vim.cmd('normal gf')
  support.wait_for('the file of the agent', function()
    return vim.fn.expand('%:t') == 'manager.toml'
  end)
end)

-- A new user runs the first agent, and reads what Neovim says.

local support = require('support')

support.play(function()
  local told = support.notices()
  if vim.fn.executable('axe-lsp') == 1 then
    support.wait_for_server()
  end
  vim.cmd('AxeRun Say hello')
  support.wait_for('a message or an answer', function()
    return #told > 0 or support.runs_text():find('✓ assistant', 1, true)
  end)
  vim.wait(50) -- A second message follows the first in the same turn of the loop.
  support.report(table.concat(told, '\n'))
  support.report(support.runs_text())
end)

-- A user who has not installed the server opens another file, and then agents.

local support = require('support')

support.play(function()
  local notices = support.notices()
  local agents = vim.fn.expand('%:p:h') .. '/axe/agents/'
  assert(vim.bo.filetype == 'toml')
  vim.cmd('doautocmd FileType')
  assert(#notices == 0, vim.inspect(notices))
  vim.cmd('edit ' .. agents .. 'manager.toml')
  assert(#notices == 1 and notices[1]:find('"axe-lsp" is not on PATH', 1, true), vim.inspect(notices))
  assert(notices[1]:find('pipx install', 1, true), 'what to do')
end)

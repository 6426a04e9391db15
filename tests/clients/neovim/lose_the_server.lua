-- The server is killed while an agent runs; what the user sees of the run ends with it.

local support = require('support')

local function kill_server()
  local neovim = vim.fn.getpid()
  local children = vim.fn.readfile(('/proc/%d/task/%d/children'):format(neovim, neovim))[1]
  local server = tonumber(children:match('%d+'))
  assert(vim.fn.readfile(('/proc/%d/cmdline'):format(server))[1]:find('axe-lsp', 1, true), 'this is the server')
  vim.loop.kill(server, 'sigkill')
end

support.play(function()
  local notices = support.notices()
  support.wait_for_server()
  vim.cmd('AxeRun Review the change')
  support.wait_for_log('slow · turn 1')
  kill_server()
  support.wait_for_log('slow ✗ killed', 'manager ✗ killed: the language server has stopped')
  vim.cmd('AxeStop')
  assert(notices[#notices] == 'axe: no agent is running', vim.inspect(notices))
end)

-- The server is killed while an agent runs: what the user sees of the run ends with it, and another server takes over.

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
  support.wait_for_log('▶ slow: Look at the style  openai/slow\n    · turn 1')
  kill_server()
  support.wait_for_log('  ✗ slow: Look at the style  killed\n', '✗ manager: Review the change  killed\n', '! killed: the language server has stopped')
  assert(vim.tbl_contains(notices, 'axe: axe-lsp has died and is started again'), vim.inspect(notices))
  vim.cmd('AxeStop')
  assert(notices[#notices] == 'axe: no agent is running', vim.inspect(notices))
  support.wait_for_server()
  support.replace('max_depth = 5', 'max_depth = 6')
  support.wait_for_diagnostics({ 'max-depth 6' })
  support.replace('max_depth = 6', 'max_depth = 5')
  vim.cmd('AxeRun!')
  support.wait_for_log('killed: the language server has stopped\n▶ manager: Review the change')

  vim.ui.select = function(runs, _, on_choice)
    assert(#runs == 2 and runs[1].status == 'killed', vim.inspect(runs))
    on_choice(runs[1])
  end
  vim.cmd('AxeResume')
  support.wait_for_log('⟳ resumed at turn 2')
end)

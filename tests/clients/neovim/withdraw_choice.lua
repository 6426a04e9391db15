-- A user has the choices of a question open, in the window of a plugin, when the agent is stopped: the window goes.

local support = require('support')

local window, chosen

--- As plugins do it: the choices are in a window, and what is chosen comes later.
local function select(items, _, on_choice)
  local buffer = vim.api.nvim_create_buf(false, true)
  window = vim.api.nvim_open_win(buffer, true, { relative = 'editor', row = 1, col = 1, width = 20, height = 4 })
  vim.cmd('startinsert')
  chosen = function()
    on_choice(items[2])
  end
end

support.play(function()
  local told = support.notices()
  support.wait_for_server()
  vim.ui.select = select
  vim.api.nvim_create_autocmd('User', { pattern = 'AxeQuestion', command = 'AxeAnswer' })
  vim.cmd('AxeRun Work')
  support.wait_for('the choices', function()
    return window
  end)
  vim.cmd('AxeStop writer')
  support.wait_for_log('✓ lead: Work  ', '  ■ writer: w  ', '! cancelled')
  assert(not vim.api.nvim_win_is_valid(window), 'the choices are away')
  assert(not support.buffer_with('@@'), 'what was shown beside the question is away')
  assert(vim.tbl_contains(told, 'axe: the question needs no answer any more'), vim.inspect(told))
  chosen() -- A plugin may be late.
  vim.cmd('AxeAnswer')
  assert(told[#told] == 'No agent asks anything.', vim.inspect(told))
end)

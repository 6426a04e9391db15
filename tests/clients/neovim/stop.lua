-- A user stops one child by its name, another one by its line, one of several runs from a list, and then all that is left.

local support = require('support')

local SLOW_IS_AT_WORK = '▶ slow: Look at the style  openai/slow\n    · turn 1'
local KEPT_BACK = '│ Ready to' -- the rest of the answer never comes

--- The row of the last line of the runs that has this text.
local function last_row(text)
  local found
  for row, line in ipairs(vim.api.nvim_buf_get_lines(vim.fn.bufnr('^axe://runs$'), 0, -1, true)) do
    found = line:find(text, 1, true) and row or found
  end
  return assert(found, 'no line has ' .. text)
end

local function press_s_at(text)
  local window = vim.fn.bufwinid('^axe://runs$')
  vim.api.nvim_win_set_cursor(window, { last_row(text), 0 })
  vim.api.nvim_set_current_win(window)
  vim.api.nvim_feedkeys('s', 'x', false)
  vim.cmd('wincmd p')
end

--- Picks the run of this title from the list that is offered next.
local function pick(title)
  vim.ui.select = function(runs, options, on_choice)
    local titles = vim.tbl_map(options.format_item, runs)
    assert(vim.deep_equal(titles, { 'manager: First', 'manager: Third' }), vim.inspect(titles))
    on_choice(runs[vim.fn.index(titles, title) + 1])
  end
end

support.play(function()
  support.wait_for_server()

  vim.cmd('AxeRun First')
  support.wait_for_log(SLOW_IS_AT_WORK)
  assert(vim.deep_equal(vim.fn.getcompletion('AxeStop s', 'cmdline'), { 'slow' }), 'who is at work is completed')
  vim.cmd('AxeStop slow')
  support.wait_for_log('  ■ slow: Look at the style  ', KEPT_BACK)
  assert(support.runs_text():find('▶ manager: First', 1, true), 'its caller goes on')

  vim.cmd('AxeRun Second')
  support.wait_for_log(SLOW_IS_AT_WORK)
  press_s_at('▶ slow')
  support.wait_for('the second child to be stopped', function()
    return not support.runs_text():find('▶ slow', 1, true)
  end)
  support.wait_for('its caller to go on', function()
    return last_row(KEPT_BACK) > last_row('▶ manager: Second')
  end)
  press_s_at(KEPT_BACK)
  support.wait_for_log('■ manager: Second  ', '▶ manager: First')

  vim.cmd('AxeRun Third')
  support.wait_for_log(SLOW_IS_AT_WORK)
  pick('manager: First')
  vim.cmd('AxeStop')
  support.wait_for_log('■ manager: First  ', '▶ manager: Third')

  vim.cmd('AxeRun fourth')
  support.wait_for_log('▶ manager: fourth')
  vim.cmd('AxeStop!')
  support.wait_for_log('■ manager: Third  ', '■ manager: fourth  ')
  assert(require('axe_lsp').status() == '')
end)

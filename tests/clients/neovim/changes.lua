-- The files that a run has changed are listed, compared, and put back: one, those of a turn, and as a fork.

local support = require('support')

support.play(function()
  support.wait_for_server()
  local told = support.notices()
  local folder = vim.fn.fnamemodify(vim.api.nvim_buf_get_name(0), ':h:h:h')
  vim.cmd('cd ' .. vim.fn.fnameescape(folder))
  local prompts, choices = {}, {}
  vim.ui.select = function(items, options, on_choice)
    table.insert(prompts, options.prompt)
    if type(items[1]) == 'table' then
      local labels = vim.tbl_map(options.format_item, items)
      assert(#labels == 2 and labels[2] == 'runs of all folders…', vim.inspect(labels))
      return on_choice(items[1])
    end
    local choice = table.remove(choices, 1)
    assert(vim.tbl_contains(items, choice), vim.inspect(items))
    on_choice(choice)
  end
  vim.cmd('AxeRuns')
  support.wait_for('the run with its changes', function()
    local line = support.shown(vim.api.nvim_get_current_buf()):match('[^\n]*')
    return line:find('✓ writer', 1, true) and line:find('3 files +3 −2', 1, true)
  end)
  vim.cmd('normal d')
  local function lines()
    return vim.api.nvim_buf_get_lines(vim.fn.bufnr('^axe://changes/'), 0, -1, true)
  end
  local function wait_for_lines(expected)
    support.wait_for('the list ' .. vim.inspect(expected), function()
      return vim.fn.bufnr('^axe://changes/') > 0 and vim.deep_equal(lines(), expected)
    end)
  end
  local left = '  M plan.txt  +1 −1  undo leaves it: it has changed since'
  local turns = { '  turn 1 · 3 files +3 −2', '  ! changes by commands are not known' }
  wait_for_lines({ 'writer: Change it · 3 files +3 −2', '  A new.txt  +1 −0', '  M notes.txt  +1 −1', left, unpack(turns) })

  support.wait_for('its window', function()
    return vim.bo.filetype == 'axechanges'
  end)
  vim.fn.search('notes')
  vim.cmd([[execute "normal \<CR>"]])
  support.wait_for('the comparison', function()
    return vim.fn.tabpagenr('$') == 2 and vim.wo.diff
  end)
  assert(vim.endswith(vim.api.nvim_buf_get_name(0), '/notes.txt'))
  vim.cmd('wincmd h')
  assert(vim.wo.diff and vim.api.nvim_get_current_line() == 'Ship on Friday.')
  vim.cmd('normal q')

  vim.fn.search('new')
  choices = { 'Put back' }
  vim.cmd('normal u')
  wait_for_lines({ 'writer: Change it · 2 files +2 −2', '  A new.txt  +1 −0  put back', '  M notes.txt  +1 −1', left,
    '  turn 1 · 2 files +2 −2', turns[2] })
  assert(vim.fn.filereadable(folder .. '/new.txt') == 0)
  assert(prompts[#prompts] == 'Put back 1 file as before this run of writer?', prompts[#prompts])

  vim.fn.search('turn 1')
  vim.cmd([[execute "normal \<CR>"]])
  support.wait_for('the files of the turn', function()
    return lines()[1] == 'writer: Change it · turn 1 · 2 files +2 −2'
  end)
  choices = { 'Leave everything as it is' }
  vim.cmd('normal u')
  support.wait_for('the question', function()
    return #choices == 0
  end)
  assert(prompts[#prompts] == 'Put back 1 file as before turn 1 of writer?', prompts[#prompts])

  local inputs = { '1', '' }
  vim.ui.input = function(_, on_confirm)
    on_confirm(table.remove(inputs, 1))
  end
  choices = { 'Conversation and files', 'Put back' }
  vim.cmd('AxeFork')
  support.wait_for_log('✓ writer: Change it', '│ No.')
  assert(vim.fn.readfile(folder .. '/notes.txt')[1] == 'Ship on Friday.')
  assert(vim.tbl_contains(told, 'axe: 1 file put back\nplan.txt is left: it has changed since') == false, vim.inspect(told))
end)

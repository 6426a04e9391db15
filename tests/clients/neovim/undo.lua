-- The file changes of a run are shown; the user leaves them at first, and then has them put back.

local support = require('support')

support.play(function()
  support.wait_for_server()
  local told = support.notices()
  local folder = vim.fn.fnamemodify(vim.api.nvim_buf_get_name(0), ':h:h:h')
  vim.cmd('split ' .. vim.fn.fnameescape(folder .. '/notes.txt'))
  local notes = vim.api.nvim_get_current_buf()
  vim.cmd('wincmd p')

  local choice, prompts, shown = 'Leave everything as it is', {}, nil
  vim.ui.select = function(items, options, on_choice)
    table.insert(prompts, options.prompt)
    if type(items[1]) == 'table' then
      return on_choice(items[1])
    end
    shown = support.buffer_with('plan.txt is left: it has changed since')
    local text = support.shown(shown)
    for _, part in ipairs({ '+++ /dev/null', '-new', '\n-Ship never.\n+Ship on Friday.', 'the effects of commands stay' }) do
      assert(text:find(part, 1, true), text)
    end
    assert(vim.tbl_contains(items, choice))
    on_choice(choice)
  end
  vim.cmd('AxeUndo')
  support.wait_for('the question', function()
    return #prompts == 2
  end)
  local expected = { 'Undo the file changes of which run?', 'Put back 2 files as before this run of writer?' }
  assert(vim.deep_equal(prompts, expected), vim.inspect(prompts))
  assert(not vim.api.nvim_buf_is_valid(shown), 'the differences are gone after the answer')
  assert(vim.fn.filereadable(folder .. '/new.txt') == 1)

  choice = 'Put back'
  vim.cmd('AxeRuns')
  support.wait_for('the past run', function()
    return vim.api.nvim_get_current_line():find('✓ writer', 1, true)
  end)
  vim.cmd('normal Gu')
  support.wait_for('the end of the undo', function()
    return told[#told] and told[#told]:find('2 files put back', 1, true)
  end)
  assert(vim.fn.filereadable(folder .. '/new.txt') == 0)
  support.wait_for('the old text in its buffer', function()
    return vim.api.nvim_buf_get_lines(notes, 0, 1, true)[1] == 'Ship on Friday.'
  end)

  vim.cmd('normal u')
  support.wait_for('that nothing is left to undo', function()
    return told[#told]:find('nothing to undo in this run of writer\n[^\n]*plan.txt is left: it has changed since')
  end)

  local asked
  vim.ui.input = function(options, use)
    asked = options.prompt
    use('Again?')
  end
  vim.cmd('normal r')
  support.wait_for_log('✓ writer: Again?', 'No.')
  assert(asked == 'Reply to writer: ', asked)
end)

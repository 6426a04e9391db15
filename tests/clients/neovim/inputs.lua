-- A user runs agents that want an input: one field by field, one as JSON in a buffer. Then one on lines of another file.

local support = require('support')

local function answer_fields()
  local asked = {}
  local answers = { ['path (A file.): '] = 'a.py', ['lines, may be empty: '] = '20' }
  vim.ui.input = function(options, on_text)
    table.insert(asked, options.prompt)
    on_text(answers[options.prompt])
  end
  vim.ui.select = function(choices, options, on_choice)
    table.insert(asked, options.prompt .. table.concat(vim.tbl_map(options.format_item, choices), '|'))
    on_choice(choices[1])
  end
  vim.cmd('AxeRun')
  support.wait_for_log('✓ reader: {"depth":"low","lines":20,"path":"a.py"}')
  local expected = { 'path (A file.): ', 'depth, may be empty: low|high', 'lines, may be empty: ' }
  assert(vim.deep_equal(asked, expected), vim.inspect(asked))
end

local function write_json()
  vim.cmd('edit ' .. vim.fn.expand('%:p:h') .. '/lister.toml')
  support.wait_for_server()
  vim.cmd('AxeRun')
  support.wait_for('the draft', function()
    return vim.bo.buftype == 'acwrite'
  end)
  assert(table.concat(vim.fn.getline(1, '$'), '\n') == '{\n  "paths": []\n}', vim.inspect(vim.fn.getline(1, '$')))
  support.replace('[]', '["a", "b"]')
  vim.cmd('wq')
  support.wait_for_log('✓ lister: {"paths":["a","b"]}')
end

local function hand_lines_to_an_agent()
  vim.cmd('enew')
  vim.fn.setline(1, { 'first', 'second', 'third' })
  assert(vim.deep_equal(vim.fn.getcompletion('AxeRun sl', 'cmdline'), { 'slow' }), 'agents are completed')
  assert(#vim.fn.getcompletion('AxeRun slow rea', 'cmdline') == 0, 'a task is not')
  vim.cmd('2,3AxePreview slow Look at this:')
  support.wait_for('the preview', function()
    return support.buffer_with('--- Stdin ---\nLook at this:\n\nsecond\nthird\n')
  end)
  vim.cmd('2,3AxeRun slow Look at this:')
  support.wait_for_log('✓ slow: Look at this: second third')
end

support.play(function()
  support.wait_for_server()
  answer_fields()
  write_json()
  hand_lines_to_an_agent()
end)

-- Markdown that an agent writes is shown without its marks.

local support = require('support')

--- What a line of the buffer says, without what is concealed.
local function seen(row)
  local text, said = vim.fn.getline(row), ''
  for column = 1, #text do
    local hidden, instead = unpack(vim.fn.synconcealed(row, column))
    said = said .. (hidden == 1 and instead or text:sub(column, column))
  end
  return said
end

local function group(row, word)
  local column = vim.fn.getline(row):find(word, 1, true)
  return vim.fn.synIDattr(vim.fn.synID(row, column, true), 'name')
end

support.play(function()
  support.wait_for_server()
  vim.cmd('syntax on')
  vim.cmd('AxeRun Plan')
  support.wait_for_log('✓ reader: Plan', '│ Done.')
  vim.api.nvim_set_current_win(vim.fn.bufwinid('axe://runs'))
  vim.fn.search('│ # The plan')
  local row = vim.fn.line('.')
  local told = {}
  for line = row, row + 9 do
    table.insert(told, vim.trim(seen(line)))
  end
  local expected = {
    '│ The plan',
    '│',
    '│ This is bold and slanted, 2 * 3 * 4.',
    '│',
    '│ • one code',
    '│ • two',
    '│ ```lua',
    '│ **not bold**',
    '│ ```',
    '│ Done.',
  }
  assert(vim.deep_equal(told, expected), vim.inspect(told))
  assert(group(row, 'plan') == 'AxeRunsHeading', group(row, 'plan'))
  assert(group(row + 2, 'bold') == 'AxeRunsBold', group(row + 2, 'bold'))
  assert(group(row + 2, 'slanted') == 'AxeRunsItalic', group(row + 2, 'slanted'))
  assert(group(row + 4, 'code') == 'AxeRunsCode', group(row + 4, 'code'))
  assert(group(row + 7, 'not') == 'AxeRunsBlock', group(row + 7, 'not'))
  assert(group(row + 9, 'Done') == 'AxeRunsText', group(row + 9, 'Done'))
  assert(vim.wo.conceallevel == 2)
end)

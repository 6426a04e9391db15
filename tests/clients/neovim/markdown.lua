-- Markdown that an agent writes is shown without its marks: by Neovim's parsers if it has them, else by a syntax.

local support = require('support')

local IS_PARSED = vim.fn.has('nvim-0.10') == 1
local parsed = vim.api.nvim_create_namespace('axe_lsp_markdown')

--- The extmarks that parsers have left on a character.
local function marks(row, column)
  local found = {}
  for _, each in ipairs(vim.api.nvim_buf_get_extmarks(0, parsed, { row - 1, 0 }, { row - 1, -1 }, { details = true })) do
    local _, _, first, details = unpack(each)
    if details.hl_group and first < column and column <= details.end_col then
      table.insert(found, details)
    end
  end
  return found
end

--- What a line of the buffer says, without what is concealed.
local function seen(row)
  local text, said = vim.fn.getline(row), ''
  for column = 1, #text do
    local hidden, instead = unpack(vim.fn.synconcealed(row, column))
    for _, each in ipairs(marks(row, column)) do
      if each.conceal_lines then
        return '(no line)'
      elseif each.conceal then
        hidden, instead = 1, each.conceal
      end
    end
    said = said .. (hidden == 1 and instead or text:sub(column, column))
  end
  return vim.trim(said)
end

local function column_of(row, word)
  return vim.fn.getline(row):find(word, 1, true)
end

local function group(row, word)
  return vim.fn.synIDattr(vim.fn.synID(row, column_of(row, word), true), 'name')
end

--- The names that the parsers have for a word.
local function captures(row, word)
  return table.concat(vim.tbl_map(function(each)
    return each.hl_group
  end, marks(row, column_of(row, word))), ' ')
end

local function lines_seen(first, last)
  local told = {}
  for line = first, last do
    table.insert(told, seen(line))
  end
  return told
end

local function check_names(row)
  for word, expected in pairs({
    [{ 0, 'plan' }] = '@markup.heading.1.markdown',
    [{ 2, 'bold' }] = '@markup.strong.markdown_inline',
    [{ 2, 'slanted' }] = '@markup.italic.markdown_inline',
    [{ 4, 'code' }] = '@markup.raw.markdown_inline',
    [{ 8, 'local' }] = '@keyword.lua',
    [{ 11, 'Done' }] = '@markup.strong.markdown_inline',
    [{ 11, 'here' }] = '@markup.link.label.markdown_inline',
  }) do
    local names = captures(row + word[1], word[2])
    assert(names:find(expected, 1, true), word[2] .. ': ' .. names)
  end
  assert(captures(row + 7, 'not'):find('strong') == nil)
  for line = row, row + 11 do
    local names = captures(line, '│')
    assert(names == '', ('line %d: the bar is %s'):format(line - row, names))
  end
end

support.play(function()
  support.wait_for_server()
  vim.cmd('syntax on')
  vim.cmd('AxeRun Plan')
  support.wait_for_log('✓ reader: Plan', '│ __Done__')
  vim.api.nvim_set_current_win(vim.fn.bufwinid('axe://runs'))
  vim.fn.search('│ # The plan')
  local row = vim.fn.line('.')
  if IS_PARSED then
    support.wait_for('the Markdown to be parsed', function()
      vim.cmd('redraw')
      return captures(row, 'plan') ~= ''
    end)
    check_names(row)
  end
  local expected = {
    '│ The plan',
    '│',
    '│ This is bold and slanted, 2 * 3 * 4.',
    '│',
    '│ • one code',
    '│ • two',
    IS_PARSED and '(no line)' or '│ ```lua',
    '│ **not bold**',
    '│ local plan',
    IS_PARSED and '(no line)' or '│ ```',
    '│',
    IS_PARSED and '│ Done, here.' or '│ __Done__, [here](https://example.org).',
  }
  local told = lines_seen(row, row + 11)
  assert(vim.deep_equal(told, expected), vim.inspect(told))
  assert(group(row, 'plan') == 'AxeRunsHeading', group(row, 'plan'))
  assert(group(row + 2, 'bold') == 'AxeRunsBold', group(row + 2, 'bold'))
  assert(group(row + 2, 'slanted') == 'AxeRunsItalic', group(row + 2, 'slanted'))
  assert(group(row + 4, 'code') == 'AxeRunsCode', group(row + 4, 'code'))
  assert(group(row + 7, 'not') == 'AxeRunsBlock', group(row + 7, 'not'))
  assert(group(row + 11, 'Done') == 'AxeRunsText', group(row + 11, 'Done'))
  assert(vim.wo.conceallevel == 2)

  require('axe_lsp.run_buffers').open_item()
  local whole = vim.api.nvim_get_current_buf()
  assert(vim.fn.search('^# The plan$') > 0)
  assert(vim.wo.conceallevel == 2)
  if IS_PARSED then
    assert(vim.treesitter.highlighter.active[whole], 'the whole message is not parsed')
  else
    assert(vim.bo.syntax == 'markdown', vim.bo.syntax)
  end
end)

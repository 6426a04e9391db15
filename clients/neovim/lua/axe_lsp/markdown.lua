-- Markdown by the treesitter parsers "markdown" and "markdown_inline", which Neovim has from 0.10 on.
--
-- The texts of runs have a bar before each line, so no buffer of runs is Markdown. Each text is parsed by itself, once,
-- when it is complete and on the screen.

local M = {}

local shown = vim.api.nvim_create_namespace('axe_lsp_markdown')
local due = vim.api.nvim_create_namespace('axe_lsp_markdown_due') -- an extmark for each text, where its first line begins

local LONGEST = 50000 -- bytes of a text that is parsed: a fifth of a second of processor time, in which Neovim waits

local has_concealed_lines = vim.fn.has('nvim-0.11') == 1

local function has_parsers()
  return vim.fn.has('nvim-0.10') == 1
    and pcall(vim.treesitter.language.inspect, 'markdown')
    and pcall(vim.treesitter.language.inspect, 'markdown_inline')
end

--- Marks a range in each of its lines, behind the bars.
local function mark(bufnr, place, range, options)
  for row = range[1], math.min(range[4], #place.lines - 1) do
    local first = row == range[1] and range[2] or 0
    local last = row == range[4] and range[5] or #place.lines[row + 1]
    if last > first then
      options.end_col = place.column + last
      vim.api.nvim_buf_set_extmark(bufnr, shown, place.row + row, place.column + first, options)
    end
  end
end

local function show_tree(bufnr, place, text, language, root)
  local query = vim.treesitter.query.get(language, 'highlights')
  if not query then
    return
  end
  for id, node, metadata in query:iter_captures(root, text) do
    local name, own = query.captures[id], metadata[id] or {}
    if not vim.startswith(name, '_') and name ~= 'spell' and name ~= 'nospell' then
      mark(bufnr, place, vim.treesitter.get_range(node, text, own), {
        hl_group = ('@%s.%s'):format(name, language),
        conceal = own.conceal or metadata.conceal,
        conceal_lines = has_concealed_lines and (own.conceal_lines or metadata.conceal_lines) or nil,
        priority = tonumber(own.priority or metadata.priority) or 100, -- that of Neovim's own highlighter
      })
    end
  end
end

local function show(bufnr, place)
  local text = table.concat(place.lines, '\n') .. '\n'
  local parser = vim.treesitter.get_string_parser(text, 'markdown')
  parser:parse(true)
  parser:for_each_tree(function(tree, parsed)
    show_tree(bufnr, place, text, parsed:lang(), tree:root())
  end)
end

local function show_due(bufnr, first, last)
  if not vim.api.nvim_buf_is_loaded(bufnr) then
    return
  end
  local found = vim.api.nvim_buf_get_extmarks(bufnr, due, { first, 0 }, { last, -1 }, { overlap = true, details = true })
  for _, each in ipairs(found) do
    local id, row, column, details = unpack(each)
    vim.api.nvim_buf_del_extmark(bufnr, due, id)
    local lines = vim.tbl_map(function(line)
      return line:sub(column + 1)
    end, vim.api.nvim_buf_get_lines(bufnr, row, details.end_row + 1, true))
    pcall(show, bufnr, { row = row, column = column, lines = lines }) -- the user's queries may not fit the parsers
  end
end

local function on_win(_, _, bufnr, first, last)
  last = math.min(last, vim.api.nvim_buf_line_count(bufnr) - 1)
  if #vim.api.nvim_buf_get_extmarks(bufnr, due, { first, 0 }, { last, -1 }, { overlap = true, limit = 1 }) > 0 then
    vim.schedule(function()
      show_due(bufnr, first, math.min(last, vim.api.nvim_buf_line_count(bufnr) - 1))
    end)
  end
  return false
end

--- Shows the Markdown from one row of a buffer to another as soon as it is on the screen. Its lines begin at a column.
function M.show_when_seen(bufnr, first, last, column)
  if has_parsers() then
    local lines = vim.api.nvim_buf_get_lines(bufnr, first, last + 1, true)
    if #table.concat(lines) - #lines * column <= LONGEST then
      vim.api.nvim_set_decoration_provider(due, { on_win = on_win })
      vim.api.nvim_buf_set_extmark(bufnr, due, first, column, { end_row = last, end_col = #lines[#lines] })
    end
  end
end

--- Shows a buffer of which all is Markdown.
function M.show_all(bufnr)
  if not (has_parsers() and pcall(vim.treesitter.start, bufnr, 'markdown')) then
    vim.bo[bufnr].syntax = 'markdown'
  end
end

return M

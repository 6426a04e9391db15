-- Windows in which the user reads what belongs to no file: runs, previews, questions, lists of places.

local markdown = require('axe_lsp.markdown')

local M = {}

local LINES_OF_OTHERS = 14 -- with the choices of an answer

--- Shows a buffer below the others, unless it is on the screen. The cursor stays where it is.
function M.show(bufnr)
  if vim.fn.bufwinid(bufnr) == -1 then
    local here = vim.api.nvim_get_current_win()
    vim.cmd(('botright %dsplit'):format(math.max(12, math.floor(vim.o.lines * 0.4))))
    vim.api.nvim_win_set_buf(0, bufnr)
    vim.api.nvim_set_current_win(here)
  end
end

--- The same, and goes there, to a row if one is given.
function M.go_to(bufnr, row)
  M.show(bufnr)
  vim.api.nvim_set_current_win(vim.fn.bufwinid(bufnr))
  if row then
    vim.api.nvim_win_set_cursor(0, { row + 1, 0 })
  end
end

local function buffer_of(text)
  local bufnr = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_buf_set_lines(bufnr, 0, -1, true, vim.split(text, '\n', { plain = true }))
  vim.bo[bufnr].modifiable = false
  return bufnr
end

local shown -- the text that is on the screen

--- Shows a text until its window is closed, which q does. One at a time. The cursor stays where it is.
function M.show_text(text)
  local window = shown and vim.fn.bufwinid(shown) or -1
  shown = buffer_of(text)
  vim.bo[shown].bufhidden = 'wipe'
  vim.keymap.set('n', 'q', '<Cmd>close<CR>', { buffer = shown, nowait = true, desc = 'Close the window' })
  if window ~= -1 then
    vim.api.nvim_win_set_buf(window, shown)
  else
    M.show(shown)
  end
end

--- The same for Markdown, and goes there.
function M.open_markdown(text)
  M.show_text(text)
  markdown.show_all(shown)
  M.go_to(shown)
  vim.opt_local.conceallevel = 2
end

--- Shows a text in a buffer of that name, until the function that is returned is called. The second value is the buffer.
function M.show_briefly(name, text, syntax)
  local bufnr = buffer_of(text)
  vim.api.nvim_buf_set_name(bufnr, name)
  vim.bo[bufnr].syntax = syntax
  M.show(bufnr)
  return function()
    if vim.api.nvim_buf_is_valid(bufnr) then
      vim.api.nvim_buf_delete(bufnr, { force = true })
    end
  end, bufnr
end

--- Gives the window of a buffer as many lines as it needs, and leaves some to the others.
function M.give_room(bufnr)
  local window = vim.fn.bufwinid(bufnr)
  if window ~= -1 then
    local needed = math.min(vim.api.nvim_buf_line_count(bufnr), vim.o.lines - LINES_OF_OTHERS)
    vim.api.nvim_win_set_height(window, math.max(needed, vim.api.nvim_win_get_height(window)))
  end
end

--- Lists places, in the terms of LSP, in the quickfix window.
function M.list(title, locations, encoding)
  vim.fn.setqflist({}, ' ', { title = title, items = vim.lsp.util.locations_to_items(locations, encoding) })
  vim.cmd('botright copen')
end

return M

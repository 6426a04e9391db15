-- Where the user reads what happens: the buffer of the runs, previews, lists of places.

local M = {}

local runs

local function runs_buffer()
  if not (runs and vim.api.nvim_buf_is_valid(runs)) then
    runs = vim.api.nvim_create_buf(true, true)
    vim.api.nvim_buf_set_name(runs, 'axe://runs')
  end
  return runs
end

local function show(bufnr)
  if vim.fn.bufwinid(bufnr) == -1 then
    vim.cmd('botright 12split')
    vim.api.nvim_win_set_buf(0, bufnr)
    vim.cmd('wincmd p')
  end
end

function M.show_runs()
  show(runs_buffer())
end

--- Appends to the last line, and lets the windows that show it follow.
function M.append_to_runs(text)
  local bufnr = runs_buffer()
  local last = vim.api.nvim_buf_line_count(bufnr) - 1
  local column = #vim.api.nvim_buf_get_lines(bufnr, last, last + 1, true)[1]
  vim.api.nvim_buf_set_text(bufnr, last, column, last, column, vim.split(text, '\n', { plain = true }))
  for _, window in ipairs(vim.fn.win_findbuf(bufnr)) do
    vim.api.nvim_win_set_cursor(window, { vim.api.nvim_buf_line_count(bufnr), 0 })
  end
end

--- Shows text that belongs to no file.
function M.show_text(text)
  local bufnr = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_buf_set_lines(bufnr, 0, -1, true, vim.split(text, '\n', { plain = true }))
  show(bufnr)
end

--- Shows text that belongs to no file until the function that is returned is called.
function M.show_briefly(text, syntax)
  local bufnr = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_buf_set_lines(bufnr, 0, -1, true, vim.split(text, '\n', { plain = true }))
  vim.bo[bufnr].syntax = syntax
  show(bufnr)
  return function()
    if vim.api.nvim_buf_is_valid(bufnr) then
      vim.api.nvim_buf_delete(bufnr, { force = true })
    end
  end
end

--- Lists places, in the terms of LSP, in the quickfix window.
function M.list(title, locations, encoding)
  vim.fn.setqflist({}, ' ', { title = title, items = vim.lsp.util.locations_to_items(locations, encoding) })
  vim.cmd('botright copen')
end

return M

-- The texts of files that agents ask about: loaded without a window, and read again when the disk has changed.

local waiting = require('axe_lsp.code.waiting')

local M = {}

local loaded = {} -- when buffers were loaded for agents, by their number, in milliseconds
local of_runs = {} -- these buffers, by the root run that was the first to ask

local function real(path)
  return vim.uv.fs_realpath(path) or vim.fs.normalize(path)
end

--- The folders of this Neovim: its working directories, and those that its language servers work in.
local function folders()
  local all = { vim.fn.getcwd(-1, -1), vim.fn.getcwd() }
  for _, client in ipairs(vim.lsp.get_clients()) do
    table.insert(all, client.root_dir)
    for _, folder in ipairs(client.workspace_folders or {}) do
      table.insert(all, vim.uri_to_fname(folder.uri))
    end
  end
  return all
end

--- The buffer that has the text of a file, if one has.
function M.loaded(path)
  for _, bufnr in ipairs(vim.api.nvim_list_bufs()) do
    if vim.api.nvim_buf_is_loaded(bufnr) and vim.api.nvim_buf_get_name(bufnr) == path then
      return bufnr
    end
  end
end

--- Whether a file is in a folder of this Neovim, or the user has opened it.
function M.is_here(path)
  local bufnr = M.loaded(path)
  if bufnr and not loaded[bufnr] then
    return true
  end
  local file = real(path)
  for _, folder in ipairs(folders()) do
    if vim.startswith(file, (real(folder):gsub('/$', '')) .. '/') then
      return true
    end
  end
  return false
end

--- The buffer of a file, loaded if it is not, with the text that the file has now unless it has changes that are not
--- saved. Its language servers are started as for any file that is opened.
function M.open(path, root_run_id)
  local bufnr = vim.fn.bufadd(path)
  if not vim.api.nvim_buf_is_loaded(bufnr) then
    vim.bo[bufnr].swapfile = false -- the user has not opened it, and may do so in another Neovim
    vim.fn.bufload(bufnr)
    loaded[bufnr] = waiting.now()
    of_runs[root_run_id] = of_runs[root_run_id] or {}
    table.insert(of_runs[root_run_id], bufnr)
    vim.api.nvim_create_autocmd('BufWinEnter', {
      buffer = bufnr,
      once = true,
      callback = function()
        vim.bo[bufnr].swapfile = vim.go.swapfile
        vim.bo[bufnr].buflisted = true
        loaded[bufnr] = nil
      end,
    })
  elseif not vim.bo[bufnr].modified then
    M.read_again(bufnr)
  end
  return bufnr
end

--- Reads a file again if it has changed on the disk, without a question.
function M.read_again(bufnr)
  local autoread = vim.bo[bufnr].autoread
  vim.bo[bufnr].autoread = true
  vim.cmd('silent! checktime ' .. bufnr)
  vim.bo[bufnr].autoread = autoread
end

--- The milliseconds since a buffer was loaded for an agent; nil if the user has opened it.
function M.age(bufnr)
  return loaded[bufnr] and waiting.now() - loaded[bufnr]
end

--- The text of a buffer as language servers and the server of agents have it.
function M.digest(bufnr)
  local lines = vim.api.nvim_buf_get_lines(bufnr, 0, -1, false)
  local is_empty = #lines == 1 and lines[1] == ''
  local last = vim.bo[bufnr].endofline and not is_empty and '\n' or ''
  local text = (table.concat(lines, '\n') .. last):gsub('\r\n', '\n')
  return vim.fn.sha256(text)
end

--- Unloads the buffers that were loaded for a run, unless the user has looked at them.
function M.forget(root_run_id)
  for _, bufnr in ipairs(of_runs[root_run_id] or {}) do
    if loaded[bufnr] and vim.api.nvim_buf_is_loaded(bufnr) and not vim.bo[bufnr].modified then
      pcall(vim.api.nvim_buf_delete, bufnr, {})
    end
    loaded[bufnr] = nil
  end
  of_runs[root_run_id] = nil
end

return M

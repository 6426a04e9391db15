-- The files that a run has changed, in a buffer: each is compared in a tab of its own, and put back alone, by turn, or
-- with all others.

local buffers = require('axe_lsp.run_buffers')
local requests = require('axe_lsp.requests')
local views = require('axe_lsp.views')
local words = require('axe_lsp.words')

local M = {}

local LETTERS = { added = 'A', deleted = 'D', modified = 'M' }

local shown = {} -- { client_id, run, turn, rows } by the number of the buffer

local function shorten_path(path)
  return words.visible(vim.fn.fnamemodify(path, ':~:.'))
end

local function file_line(file, reasons)
  local reason = reasons[file.path]
  local remark = file.isUndone and '  put back' or reason and '  undo leaves it: ' .. words.shorten(reason) or ''
  return ('%s %s  %s%s'):format(LETTERS[file.kind] or '?', shorten_path(file.path), words.lines(file), remark)
end

--- The lines of a list, and what each of them is about: `file`, `turn`, or the whole run.
local function rows_of(view, changes)
  local reasons, rows = {}, {}
  for _, file in ipairs(changes.left) do
    reasons[file.path] = file.reason
  end
  local function add(text, about)
    table.insert(rows, { text = text, about = about })
  end
  local of_turn = view.turn and (' · turn %d'):format(view.turn) or ''
  add(words.head(view.run) .. of_turn .. ' · ' .. (words.changes(changes) or 'no changed files'), {})
  for _, file in ipairs(changes.files) do
    add('  ' .. file_line(file, reasons), { file = file })
  end
  for _, turn in ipairs(view.turn and {} or changes.turns) do
    if turn.runId == view.run.runId then
      add(('  turn %d · %s'):format(turn.turn, words.changed_files(turn)), { turn = turn.turn })
    end
  end
  if changes.hasCommands then
    add('  ! changes by commands are not known', {})
  end
  return rows
end

local function write(bufnr, view, changes)
  view.rows = rows_of(view, changes)
  vim.bo[bufnr].modifiable = true
  vim.api.nvim_buf_set_lines(bufnr, 0, -1, true, vim.tbl_map(function(row)
    return row.text
  end, view.rows))
  vim.bo[bufnr].modifiable = false
end

local function load(bufnr, on_written)
  local view = shown[bufnr]
  local client = view and vim.lsp.get_client_by_id(view.client_id)
  if client then
    requests.send(client, 'axe/changes', { runId = view.run.runId, turn = view.turn }, nil, function(changes)
      if vim.api.nvim_buf_is_loaded(bufnr) then
        write(bufnr, view, changes)
        if on_written then
          on_written()
        end
      end
    end)
  end
end

--- A text in a buffer that goes with its window.
local function text_buffer(name, text, path)
  local bufnr = vim.api.nvim_create_buf(false, true)
  pcall(vim.api.nvim_buf_set_name, bufnr, name)
  local lines = vim.split(text, '\n', { plain = true })
  if lines[#lines] == '' then
    table.remove(lines)
  end
  vim.api.nvim_buf_set_lines(bufnr, 0, -1, true, lines)
  vim.bo[bufnr].modifiable = false
  vim.bo[bufnr].bufhidden = 'wipe'
  local kind = vim.fn.has('nvim-0.8') == 1 and vim.filetype.match({ filename = path, buf = bufnr })
  vim.bo[bufnr].syntax = kind or ''
  return bufnr
end

local function content(path)
  local file = io.open(path, 'rb')
  local text = file and file:read('*a')
  if file then
    file:close()
  end
  return text
end

--- Compares a file before and after a run, in a tab: the file itself is on the right if it is as the run has left it.
local function compare(file, run)
  local before, after = file.before, file.after
  if type(before) ~= 'string' and type(after) ~= 'string' then
    return vim.notify('axe: ' .. shorten_path(file.path) .. ' is too large to compare, or a state of it is not known', vim.log.levels.INFO)
  end
  before, after = type(before) == 'string' and before or '', type(after) == 'string' and after
  vim.cmd('tabnew')
  if after and content(file.path) == after then
    vim.cmd('edit ' .. vim.fn.fnameescape(file.path))
  else
    vim.api.nvim_win_set_buf(0, text_buffer(('axe://after/%s%s'):format(run.runId, file.path), after or '', file.path))
  end
  vim.cmd('diffthis')
  vim.cmd('leftabove vertical split')
  vim.api.nvim_win_set_buf(0, text_buffer(('axe://before/%s%s'):format(run.runId, file.path), before, file.path))
  vim.cmd('diffthis')
  vim.keymap.set('n', 'q', '<Cmd>tabclose<CR>', { buffer = 0, nowait = true, desc = 'Close the comparison' })
  vim.cmd('wincmd l')
end

local function about_cursor(bufnr)
  local row = shown[bufnr].rows[vim.api.nvim_win_get_cursor(0)[1]]
  return row and row.about or {}
end

--- Compares the file of the line; on the line of a turn its files are listed, and on the first line those of the run.
local function open(bufnr)
  local view, about = shown[bufnr], about_cursor(bufnr)
  if not about.file then
    view.turn = about.turn
    return load(bufnr)
  end
  local client = vim.lsp.get_client_by_id(view.client_id)
  local params = { runId = view.run.runId, turn = view.turn, texts = true }
  requests.send(client, 'axe/changes', params, nil, function(changes)
    for _, file in ipairs(changes.files) do
      if file.path == about.file.path then
        return compare(file, view.run)
      end
    end
    load(bufnr)
  end)
end

--- Puts back the file, the turn, or all files of the list, once the user agrees.
local function undo(bufnr)
  local view, about = shown[bufnr], about_cursor(bufnr)
  local client = vim.lsp.get_client_by_id(view.client_id)
  local part = { turn = about.turn or view.turn, path = about.file and about.file.path }
  require('axe_lsp.undoing').undo(client, view.run, vim.api.nvim_get_current_buf(), part, function()
    load(bufnr)
  end)
end

local function new_buffer(run)
  local name = 'axe://changes/' .. run.runId
  local bufnr = vim.fn.bufnr(name)
  if bufnr ~= -1 then
    return bufnr
  end
  bufnr = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_buf_set_name(bufnr, name)
  vim.bo[bufnr].modifiable = false
  vim.bo[bufnr].filetype = 'axechanges'
  local function key(keys, action, description)
    vim.keymap.set('n', keys, function()
      action(bufnr)
    end, { buffer = bufnr, nowait = true, silent = true, desc = description })
  end
  key('<CR>', open, 'Compare the file, or list the files of the turn or of the run')
  key('u', undo, 'Undo the file, the turn, or all')
  key('R', load, 'Ask again')
  vim.keymap.set('n', 'q', '<Cmd>close<CR>', { buffer = bufnr, nowait = true, silent = true, desc = 'Close the window' })
  return bufnr
end

--- Shows the files that a run has changed. `run` has `runId`, `agent` and its task.
function M.show(client, run)
  local bufnr = new_buffer(run)
  shown[bufnr] = { client_id = client.id, run = run, rows = {} }
  load(bufnr, function()
    views.go_to(bufnr)
  end)
end

local asked = {} -- root runs whose changes are asked for: 'asked', or 'again' if there is news since

--- Shows what a root run has changed at its head, and in its list.
local function look(root_id, client_id)
  local client = vim.lsp.get_client_by_id(client_id)
  if asked[root_id] or not client then
    asked[root_id] = client and 'again' or nil
    return
  end
  asked[root_id] = 'asked'
  requests.look(client, 'axe/changes', { runId = root_id }, function(changes)
    local is_outdated = asked[root_id] == 'again'
    asked[root_id] = nil
    if type(changes) == 'table' then
      buffers.show_changes(root_id, words.changes(changes))
      M.refresh(root_id)
    end
    if is_outdated then
      look(root_id, client_id)
    end
  end)
end

local CHANGING = { write_file = true, edit_file = true, apply_changes = true }

--- A tool call has ended: it may have changed a file, itself or by the agents that it has called.
function M.follow(event, client_id)
  if CHANGING[event.name] or event.childRunId then
    look(event.rootRunId, client_id)
  end
end

--- A tool may have changed a file in a tree of runs: lists of it that are on the screen are made anew.
function M.refresh(root_id)
  for bufnr, view in pairs(shown) do
    if not vim.api.nvim_buf_is_loaded(bufnr) then
      shown[bufnr] = nil
    elseif (view.run.rootRunId or view.run.runId) == root_id and vim.fn.bufwinid(bufnr) ~= -1 then
      load(bufnr)
    end
  end
end

return M

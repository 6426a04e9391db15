-- Undo of the file changes of a run, of some of its turns, or of a file: they are shown as differences first, and only what was shown is put back.

local requests = require('axe_lsp.requests')
local views = require('axe_lsp.views')
local words = require('axe_lsp.words')

local M = {}

local PUT_BACK, LEAVE = 'Put back', 'Leave everything as it is'

local function files(number)
  return ('%d file%s'):format(number, number == 1 and '' or 's')
end

local function left(file)
  return ('%s is left: %s'):format(words.visible(vim.fn.fnamemodify(file.path, ':~:.')), file.reason)
end

--- What the undo would change in a file. A text that is no string is that of no file; the server leaves out both
--- texts of a large file.
local function difference(file)
  local before = type(file.before) == 'string' and file.before
  local after = type(file.after) == 'string' and file.after
  if not before and not after then
    return file.path .. ' is too large to compare\n'
  end
  local diff = vim.text and vim.text.diff or vim.diff -- before 0.12
  local hunks = diff(before or '', after or '')
  return ('--- %s\n+++ %s\n%s'):format(before and file.path or '/dev/null', after and file.path or '/dev/null', hunks)
end

local function tell(outcome)
  vim.cmd('silent! checktime')
  local lines = { 'axe: ' .. files(#outcome.undone) .. ' put back' }
  vim.list_extend(lines, vim.tbl_map(left, outcome.left))
  vim.notify(table.concat(lines, '\n'), #outcome.left > 0 and vim.log.levels.WARN or vim.log.levels.INFO)
end

--- The files that an undo would put back, and what is to be said of the others. `part` may have a `path`.
local function sorted(changes, part)
  local wanted, remarks = {}, {}
  for _, file in ipairs(changes.files) do
    if not part.path or part.path == file.path then
      table.insert(file.digest and wanted or remarks, file.digest and file or left(file))
    end
  end
  if changes.hasCommands then
    table.insert(remarks, 'the effects of commands stay')
  end
  return wanted, remarks
end

local function whose(run, part)
  local turn, agent = part.turn or part.fromTurn, words.shorten(run.agent)
  return turn and ('turn %d of %s'):format(turn, agent) or 'this run of ' .. agent
end

--- Gives `use` the files that the undo of a part of a run would put back.
function M.look(client, run, bufnr, part, use)
  local params = { runId = run.runId, turn = part.turn, fromTurn = part.fromTurn }
  requests.send(client, 'axe/undo', params, bufnr, function(changes)
    use((sorted(changes, part)))
  end)
end

--- Shows what the undo of a run would change, and puts back what the user agrees to. `run` has `runId` and `agent`;
--- `part` may have the `turn` that is undone, the turn `fromTurn` on, and the `path` of a file. `on_done` is called with
--- whether all of it was put back.
function M.undo(client, run, bufnr, part, on_done)
  local params = { runId = run.runId, turn = part.turn, fromTurn = part.fromTurn }
  requests.send(client, 'axe/undo', params, bufnr, function(changes)
    local wanted, remarks = sorted(changes, part)
    if #wanted == 0 then
      table.insert(remarks, 1, 'axe: there is nothing to undo in ' .. whose(run, part))
      return vim.notify(table.concat(remarks, '\n'), vim.log.levels.INFO)
    end
    local shown = words.visible(table.concat(vim.list_extend(remarks, vim.tbl_map(difference, wanted)), '\n'))
    local close = views.show_briefly('axe://undo', shown, 'diff')
    vim.cmd('redraw') -- else the prompt of Neovim itself would come before the differences
    local prompt = ('Put back %s as before %s?'):format(files(#wanted), whose(run, part))
    vim.ui.select({ PUT_BACK, LEAVE }, { prompt = prompt }, function(choice)
      close()
      if choice == PUT_BACK then
        local agreed = vim.tbl_map(function(file)
          return { path = file.path, digest = file.digest }
        end, wanted)
        requests.send(client, 'axe/undo', vim.tbl_extend('error', params, { agreed = agreed }), bufnr, function(outcome)
          tell(outcome)
          on_done(#outcome.left == 0)
        end)
      end
    end)
  end)
end

return M

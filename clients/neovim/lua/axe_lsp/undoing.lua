-- Undo of the file changes of a run: they are shown as differences first, and only what was shown is put back.

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

--- Shows what the undo of a run would change, and puts back what the user agrees to. `run` has `runId` and `agent`.
function M.undo(client, run, bufnr)
  requests.send(client, 'axe/undo', { runId = run.runId }, bufnr, function(changes)
    local wanted, remarks = {}, {}
    for _, file in ipairs(changes.files) do
      if file.digest then
        table.insert(wanted, file)
      else
        table.insert(remarks, left(file))
      end
    end
    if changes.hasCommands then
      table.insert(remarks, 'the effects of commands stay')
    end
    if #wanted == 0 then
      table.insert(remarks, 1, ('axe: there is nothing to undo in this run of %s'):format(words.shorten(run.agent)))
      return vim.notify(table.concat(remarks, '\n'), vim.log.levels.INFO)
    end
    local shown = words.visible(table.concat(vim.list_extend(remarks, vim.tbl_map(difference, wanted)), '\n'))
    local close = views.show_briefly('axe://undo', shown, 'diff')
    vim.cmd('redraw') -- else the prompt of Neovim itself would come before the differences
    local prompt = ('Put back %s as before this run of %s?'):format(files(#wanted), words.shorten(run.agent))
    vim.ui.select({ PUT_BACK, LEAVE }, { prompt = prompt }, function(choice)
      close()
      if choice == PUT_BACK then
        local agreed = vim.tbl_map(function(file)
          return { path = file.path, digest = file.digest }
        end, wanted)
        requests.send(client, 'axe/undo', { runId = run.runId, agreed = agreed }, bufnr, tell)
      end
    end)
  end)
end

return M

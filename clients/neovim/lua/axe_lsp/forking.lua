-- What a fork takes from before a turn: the conversation, the files, or both.

local undoing = require('axe_lsp.undoing')
local words = require('axe_lsp.words')

local M = {}

local CONVERSATION, FILES, BOTH = 'Conversation', 'Files, without a new run', 'Conversation and files'

--- Asks what is wanted, if the turns that the fork leaves out have changed files that can be put back, and puts them
--- back. Calls `fork` if there is to be a new run: not if the user gives up, or a file could not be put back.
function M.prepare(client, run, turn, bufnr, fork)
  local part = { fromTurn = turn }
  undoing.look(client, run, bufnr, part, function(files)
    if #files == 0 then
      return fork()
    end
    local prompt = ('What is to be as before turn %d of %s?'):format(turn, words.shorten(run.agent))
    vim.ui.select({ CONVERSATION, BOTH, FILES }, { prompt = prompt }, function(choice)
      if choice == CONVERSATION then
        return fork()
      elseif choice then
        undoing.undo(client, run, bufnr, part, function(is_all)
          if is_all and choice == BOTH then
            fork()
          end
        end)
      end
    end)
  end)
end

return M

-- What other configurations may call.

local M = {}

--- Of this plugin; the server's is the same.
M.version = '0.1.0'

--- For a status line: which agents are at work, empty if none is. It begins with `?` while one waits for an answer.
function M.status()
  local runs = package.loaded['axe_lsp.runs'] -- without it nothing has run
  local names = {}
  for _, run in ipairs(runs and runs.active(true) or {}) do
    table.insert(names, run.begun.agent)
  end
  local mark = runs and runs.is_asked() and '? ' or '▶ '
  return #names > 0 and mark .. require('axe_lsp.words').status(names) or ''
end

return M

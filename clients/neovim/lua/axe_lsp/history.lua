-- Past runs: picked from a list, and shown as the tree of what happened.

local requests = require('axe_lsp.requests')
local views = require('axe_lsp.views')

local M = {}

local MOST = 200

local function describe(run)
  local task = vim.trim((run.task or ''):gsub('%s+', ' '))
  local began = run.began:sub(1, 16):gsub('T', ' ') .. ' UTC'
  return ('%s  %s  %s%s'):format(began, run.status, run.agent, task ~= '' and ': ' .. task or '')
end

--- Offers the newest runs; `bufnr` is a buffer that the server checks.
function M.pick(bufnr)
  local client = requests.client_of(bufnr)
  if not client then
    return
  end
  local function show(run)
    if run then
      requests.send(client, 'axe/events', { runId = run.runId, format = 'text' }, bufnr, function(result)
        views.show_text(result.text)
      end)
    end
  end
  requests.send(client, 'axe/runs', { limit = MOST }, bufnr, function(runs)
    if #runs == 0 then
      vim.notify('axe: no run is remembered yet', vim.log.levels.INFO)
    else
      vim.ui.select(runs, { prompt = 'Which run?', format_item = describe }, show)
    end
  end)
end

return M

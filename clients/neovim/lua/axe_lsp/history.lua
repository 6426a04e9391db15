-- Past runs: picked from a list, and told again.

local buffers = require('axe_lsp.run_buffers')
local requests = require('axe_lsp.requests')
local views = require('axe_lsp.views')
local words = require('axe_lsp.words')

local M = {}

local MOST = 200

local function show(client, run, bufnr)
  local row = buffers.live().row_of(run.runId)
  if row then
    return views.go_to(buffers.live().bufnr, row)
  end
  local tree = buffers.for_past_run(run.rootRunId)
  requests.send(client, 'axe/subscribe', { runId = run.rootRunId, after = 0 }, bufnr, function()
    views.go_to(tree.bufnr, tree.row_of(run.runId))
  end)
end

--- Offers the newest runs, those of one agent if a name is given.
function M.pick(agent, bufnr)
  local client = requests.client_for(bufnr)
  if not client then
    return
  end
  local params = { limit = MOST, agent = agent ~= '' and agent or nil }
  requests.send(client, 'axe/runs', params, bufnr, function(runs)
    if #runs == 0 then
      return vim.notify('axe: no run is stored yet', vim.log.levels.INFO)
    end
    vim.ui.select(runs, { prompt = 'Which run?', format_item = words.past }, function(run)
      if run then
        show(client, run, bufnr)
      end
    end)
  end)
end

--- Shows the runs of this session.
function M.show_live()
  views.go_to(buffers.live().bufnr)
end

return M

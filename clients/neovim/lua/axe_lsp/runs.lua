-- Runs of agents: starts and stops them, and shows what happens in the buffer "axe://runs".

local approvals = require('axe_lsp.approvals')
local requests = require('axe_lsp.requests')
local views = require('axe_lsp.views')

local M = {}

local log = require('axe_lsp.log').new(views.append_to_runs)
local active = {} -- the runs under way and their children: { begun, client_id }, by run id

local function follow_agent(event, client_id)
  log['axe/agent'](event)
  active[event.runId] = event.kind == 'begin' and { begun = event, client_id = client_id } or nil
  if event.kind == 'end' and event.runId == event.rootRunId then
    approvals.forget(event.runId)
  end
end

local function handler(show_event)
  return function(_, event, context)
    show_event(event, context.client_id)
  end
end

M.handlers = {
  ['axe/agent'] = handler(follow_agent),
  ['axe/turn'] = handler(log['axe/turn']),
  ['axe/text'] = handler(log['axe/text']),
  ['axe/tool'] = handler(log['axe/tool']),
  ['axe/approve'] = approvals.approve,
}

local function forget(client_id)
  local lost = vim.tbl_filter(function(run)
    return run.client_id == client_id
  end, active)
  table.sort(lost, function(one, other)
    return one.begun.depth > other.begun.depth
  end)
  for _, run in ipairs(lost) do
    active[run.begun.runId] = nil
    approvals.forget(run.begun.rootRunId)
    log.lost(run.begun)
  end
end

--- A server has ended, and its runs with it, which can't say so themselves any more.
function M.on_exit(_, _, client_id)
  vim.schedule(function()
    forget(client_id)
  end)
end

--- Runs the agent of a buffer, saved or not. Without a task it works on its own instructions.
function M.run(task, bufnr)
  local client = requests.client_of(bufnr)
  if client then
    views.show_runs()
    local params = { uri = vim.uri_from_bufnr(bufnr), task = task ~= '' and task or nil }
    requests.send(client, 'axe/run', params, bufnr, function() end)
  end
end

--- Shows what would be sent to the provider.
function M.preview(bufnr)
  local client = requests.client_of(bufnr)
  if client then
    requests.send(client, 'axe/preview', { uri = vim.uri_from_bufnr(bufnr) }, bufnr, function(result)
      views.show_text(result.text)
    end)
  end
end

local function stop(run)
  local client = run and vim.lsp.get_client_by_id(run.client_id)
  if client then
    requests.send(client, 'axe/stop', { runId = run.begun.runId }, nil, function() end)
  end
end

--- Stops the run that is under way, or the one the user picks.
function M.stop()
  local roots = vim.tbl_filter(function(run)
    return run.begun.runId == run.begun.rootRunId
  end, active)
  if #roots == 0 then
    vim.notify('axe: no agent is running', vim.log.levels.INFO)
  elseif #roots == 1 then
    stop(roots[1])
  else
    local function describe(run)
      return run.begun.agent .. (run.begun.task ~= '' and ': ' .. run.begun.task or '')
    end
    vim.ui.select(roots, { prompt = 'Which run?', format_item = describe }, stop)
  end
end

return M

-- Past runs: picked from a list, and told again.

local buffers = require('axe_lsp.run_buffers')
local files = require('axe_lsp.files')
local requests = require('axe_lsp.requests')
local views = require('axe_lsp.views')
local words = require('axe_lsp.words')

local M = {}

local MOST = 200
local ALL_FOLDERS = { label = 'runs of all folders…' }

--- The folders whose runs are listed first: the project of the server, and that of the working directory.
local function folders(client)
  local all = {}
  for _, folder in ipairs({ client.config.root_dir or false, files.project(vim.fn.getcwd()) }) do
    local uri = folder and vim.uri_from_fname(folder)
    if uri and not vim.tbl_contains(all, uri) then
      table.insert(all, uri)
    end
  end
  return all
end

local function describe(run)
  return run.label or words.past(run)
end

local function list(client, bufnr, what, in_folders, use)
  local params = { limit = MOST, agent = what.agent, folders = in_folders }
  requests.send(client, 'axe/runs', params, bufnr, function(runs)
    local fitting = vim.tbl_filter(what.fits or function()
      return true
    end, runs)
    if in_folders and #fitting == 0 then
      return list(client, bufnr, what, nil, use)
    elseif #fitting == 0 then
      return vim.notify('axe: ' .. what.none, vim.log.levels.INFO)
    end
    local items = vim.list_extend(fitting, in_folders and { ALL_FOLDERS } or {})
    vim.ui.select(items, { prompt = what.prompt, format_item = describe }, function(run)
      if run == ALL_FOLDERS then
        list(client, bufnr, what, nil, use)
      elseif run then
        use(run)
      end
    end)
  end)
end

--- Has the user pick a run, those of this project first: `what` has a `prompt`, what to say if there is `none`, and
--- may have a function that tells which `fits`, and the name of an `agent`.
function M.choose(client, bufnr, what, use)
  list(client, bufnr, what, folders(client), use)
end

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
  if client then
    local what = { prompt = 'Which run?', none = 'no run is stored yet', agent = agent ~= '' and agent or nil }
    M.choose(client, bufnr, what, function(run)
      show(client, run, bufnr)
    end)
  end
end

--- Shows the runs of this session.
function M.show_live()
  views.go_to(buffers.live().bufnr)
end

return M

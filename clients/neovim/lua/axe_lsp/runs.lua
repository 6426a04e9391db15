-- Runs of agents: starts and stops them, and knows which are under way.

local approvals = require('axe_lsp.approvals')
local buffers = require('axe_lsp.run_buffers')
local requests = require('axe_lsp.requests')
local server = require('axe_lsp.server')
local texts = require('axe_lsp.code.texts')
local views = require('axe_lsp.views')
local words = require('axe_lsp.words')

local M = {}

local active = {} -- the runs under way and their children: { begun, client_id, since }, by run id
local again -- the params of the last run
local clock -- ticks while runs are under way

local function show_times()
  for run_id, run in pairs(active) do
    buffers.live().show_time(run_id, vim.loop.now() - run.since)
  end
end

local function tick()
  if next(active) and not clock then
    clock = vim.loop.new_timer()
    clock:start(1000, 1000, vim.schedule_wrap(show_times))
  elseif not next(active) and clock then
    clock:close()
    clock = nil
  end
end

local function follow_agent(event, client_id)
  if event.kind == 'idle' then
    return -- it is still at work
  end
  local ends = event.kind == 'end'
  local before = event.saved and event.saved.durationMs or 0
  active[event.runId] = not ends and { begun = event, client_id = client_id, since = vim.loop.now() - before } or nil
  if ends then
    (event.runId == event.rootRunId and approvals.forget or approvals.end_agent)(event.runId)
    texts.forget(event.runId)
  end
  tick()
  vim.cmd('redrawstatus!')
end

--- What a tool has changed on the disk is shown where it is open.
local function follow_tool(event, client_id)
  if event.kind == 'end' then
    approvals.end_call(event.runId, event.callId)
    require('axe_lsp.changes').follow(event, client_id)
  end
  if event.kind == 'end' and not event.isError and vim.fn.getcmdwintype() == '' then
    vim.cmd('silent! checktime')
  end
end

local function handler(method, follow)
  return function(_, params, context)
    local event = words.visible(params)
    buffers.tell(method, event)
    follow(event, context.client_id)
  end
end

local function pass() end

M.handlers = {
  ['axe/agent'] = handler('axe/agent', follow_agent),
  ['axe/turn'] = handler('axe/turn', pass),
  ['axe/text'] = handler('axe/text', pass),
  ['axe/thought'] = handler('axe/thought', pass),
  ['axe/place'] = handler('axe/place', pass),
  ['axe/wait'] = handler('axe/wait', pass),
  ['axe/context'] = handler('axe/context', pass),
  ['axe/message'] = handler('axe/message', pass),
  ['axe/tool'] = handler('axe/tool', follow_tool),
  ['axe/approve'] = approvals.approve,
  ['axe/ask'] = approvals.ask,
  ['axe/editor'] = function(...)
    return require('axe_lsp.code.answers').answer(...)
  end,
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
    buffers.live().lose(run.begun.runId)
  end
  tick()
end

--- A server has ended, and its runs with it, which can't say so themselves any more.
function M.on_exit(code, signal, client_id)
  vim.schedule(function()
    forget(client_id)
    server.ended(code, signal)
  end)
end

--- Asks for a run, and shows what it does.
local function send_and_show(client, method, params, bufnr)
  views.show(buffers.live().bufnr)
  requests.send(client, method, params, bufnr, pass)
end

local function start(client, params, bufnr)
  again = params
  send_and_show(client, 'axe/run', params, bufnr)
end

--- Runs an agent: `which` is { uri } or { agent }. Without a task an agent with [input] is given one by the user,
--- and any other works on its own instructions.
function M.run(which, task, bufnr)
  local client = requests.client_for(bufnr)
  if not client then
    return
  elseif task ~= '' then
    return start(client, vim.tbl_extend('error', which, { task = task }), bufnr)
  end
  requests.send(client, 'axe/preview', which, bufnr, function(preview)
    if not preview.inputSchema then
      return start(client, which, bufnr)
    end
    require('axe_lsp.inputs').ask(preview.inputSchema, function(input)
      start(client, vim.tbl_extend('error', which, { input = input }), bufnr)
    end)
  end)
end

--- Runs once more what was run last.
function M.run_again(bufnr)
  local client = again and requests.client_for(bufnr)
  if client then
    start(client, again, bufnr)
  elseif not again then
    vim.notify('axe: no agent was run yet', vim.log.levels.INFO)
  end
end

--- Has the user pick one of the past runs that fit, and hands it to `use(run, send, client)`; `none` says that
--- there is none.
local function pick_past(bufnr, fits, prompt, none, use)
  local client = requests.client_for(bufnr)
  if not client then
    return
  end
  local function send(method, params)
    send_and_show(client, method, params, bufnr)
  end
  local what = { prompt = prompt, none = none, fits = fits }
  require('axe_lsp.history').choose(client, bufnr, what, function(run)
    use(run, send, client)
  end)
end

--- Goes on with a run that ended before it was completed; the user picks which.
function M.resume(bufnr)
  local function is_resumable(run)
    return run.resumable
  end
  pick_past(bufnr, is_resumable, 'Resume which run?', 'no run can be resumed', function(run, send)
    send('axe/resume', { runId = run.runId })
  end)
end

--- Sends a further message in the conversation of `run`; the user is asked for it if it is ''.
local function reply_to(run, text, send)
  local function say(message)
    if message and vim.trim(message) ~= '' then
      send('axe/run', { ['continue'] = run.runId, task = message, session = true })
    end
  end
  if text ~= '' then
    say(text)
  else
    vim.ui.input({ prompt = ('Reply to %s: '):format(words.shorten(run.agent)) }, say)
  end
end

local function is_kept(run)
  return run.kept
end

local function is_at_rest(run)
  return run.status ~= 'running'
end

--- Sends a further message in the conversation of a run that has ended; the user picks which, and is asked for the text
--- if it is ''.
function M.reply(text, bufnr)
  pick_past(bufnr, is_kept, 'Reply to which run?', 'the conversation of no run is kept', function(run, send)
    reply_to(run, text, send)
  end)
end

--- Shows what a run has changed in files, and puts them back if the user agrees, who picks the run.
function M.undo(bufnr)
  pick_past(bufnr, is_at_rest, 'Undo the file changes of which run?', 'no run has ended yet', function(run, _, client)
    require('axe_lsp.undoing').undo(client, run, bufnr, {}, pass)
  end)
end

--- Shows the files that a run has changed, which the user picks.
function M.changes(bufnr)
  local function is_any()
    return true
  end
  pick_past(bufnr, is_any, 'The changed files of which run?', 'no run is stored yet', function(run, _, client)
    require('axe_lsp.changes').show(client, run)
  end)
end

--- Makes a case of a test of a run that the user picks.
function M.new_test(bufnr)
  pick_past(bufnr, is_at_rest, 'Make a test of which run?', 'no run has ended yet', function(run, _, client)
    require('axe_lsp.testing').new(client, run, bufnr)
  end)
end

--- Makes a new run that shares the first turns of one that is at rest, and goes on with the same model or another.
function M.fork(bufnr)
  pick_past(bufnr, is_kept, 'Fork which run?', 'no run can be forked', function(run, send, client)
    local last = tostring(run.turns or 1)
    vim.ui.input({ prompt = ('Fork %s at turn (1 to %s): '):format(words.shorten(run.agent), last), default = last }, function(turn)
      local number = tonumber(turn or '')
      if not number then
        return
      end
      vim.ui.input({ prompt = 'Model: ', default = run.model }, function(model)
        if model then
          local other = model ~= run.model and model ~= '' and model or nil
          require('axe_lsp.forking').prepare(client, run, number, bufnr, function()
            send('axe/resume', { runId = run.runId, fromTurn = number, model = other })
          end)
        end
      end)
    end)
  end)
end

--- Shows what would be sent to the provider.
function M.preview(which, task, bufnr)
  local client = requests.client_for(bufnr)
  if client then
    local params = vim.tbl_extend('error', which, task ~= '' and { task = task } or {})
    requests.send(client, 'axe/preview', params, bufnr, function(result)
      views.show_text(result.text)
    end)
  end
end

local function stop(run)
  local client = run and vim.lsp.get_client_by_id(run.client_id)
  if client then
    requests.send(client, 'axe/stop', { runId = run.begun.runId }, vim.api.nvim_get_current_buf(), pass)
  end
end

local function describe(run)
  return words.head(run.begun)
end

--- The runs under way, oldest first: the roots, or also their children.
function M.active(with_children)
  local found = vim.tbl_filter(function(run)
    return with_children or run.begun.runId == run.begun.rootRunId
  end, active)
  table.sort(found, function(one, other)
    return one.begun.time < other.begun.time
  end)
  return found
end

--- Whether an agent waits for the user's answer.
M.is_asked = approvals.is_asked

--- Stops the run that is under way, or the one the user picks; with a name, what that agent is doing.
function M.stop(name)
  local runs = vim.tbl_filter(function(run)
    return name == '' or run.begun.agent == name or run.begun.side == name
  end, M.active(name ~= ''))
  if #runs == 0 then
    vim.notify(name == '' and 'axe: no agent is running' or ('axe: "%s" is not running'):format(name), vim.log.levels.INFO)
  elseif #runs == 1 then
    stop(runs[1])
  else
    vim.ui.select(runs, { prompt = 'Which run?', format_item = describe }, stop)
  end
end

function M.stop_all()
  vim.tbl_map(stop, M.active(false))
end

--- Stops what the line of the cursor tells of.
function M.stop_at_cursor()
  local item = buffers.item()
  local run = item and active[item.run.begun.runId]
  if run then
    stop(run)
  else
    vim.notify('axe: this agent is not at work, or not for this Neovim', vim.log.levels.INFO)
  end
end

--- The root run that the line of the cursor belongs to, and a server for what is done with it.
local function root_at_cursor()
  local root = buffers.root()
  local client = root and requests.any()
  if not root then
    vim.notify('axe: there is no run on this line', vim.log.levels.INFO)
  end
  return client and root, client
end

--- Replies to the run of the line of the cursor.
function M.reply_at_cursor()
  local root, client = root_at_cursor()
  if root then
    reply_to(root, '', function(method, params)
      send_and_show(client, method, params, vim.api.nvim_get_current_buf())
    end)
  end
end

--- Undoes the file changes of the run of the line of the cursor.
function M.undo_at_cursor()
  local root, client = root_at_cursor()
  if root then
    require('axe_lsp.undoing').undo(client, root, vim.api.nvim_get_current_buf(), {}, pass)
  end
end

--- Shows the files that the run of the line of the cursor has changed.
function M.changes_at_cursor()
  local root, client = root_at_cursor()
  if root then
    require('axe_lsp.changes').show(client, root)
  end
end

--- Opens the file of the agent that the line of the cursor tells of.
function M.open_agent_at_cursor()
  local item = buffers.item()
  local client = item and requests.any()
  if client then
    requests.send(client, 'axe/agents', {}, vim.api.nvim_get_current_buf(), function(agents)
      for _, agent in ipairs(agents) do
        if agent.name == item.run.begun.agent and type(agent.uri) == 'string' then
          vim.cmd('wincmd p')
          return vim.cmd('edit ' .. vim.fn.fnameescape(vim.uri_to_fname(agent.uri)))
        end
      end
      vim.notify('axe: no file defines "' .. item.run.begun.agent .. '"', vim.log.levels.INFO)
    end)
  end
end

return M

-- What the commands do with their arguments, and what completes them.

local files = require('axe_lsp.files')
local history = require('axe_lsp.history')
local requests = require('axe_lsp.requests')
local runs = require('axe_lsp.runs')

local M = {}

local function is_agent(bufnr)
  return requests.checking(bufnr) ~= nil or files.is_agent(vim.api.nvim_buf_get_name(bufnr))
end

--- Which agent is meant, and its task. In an agent file the whole text is the task; elsewhere it begins with a name.
local function read(text, bufnr)
  if is_agent(bufnr) then
    return { uri = vim.uri_from_bufnr(bufnr) }, text
  end
  local name, task = text:match('^(%S+)%s*(.*)$')
  if not name then
    vim.notify('axe: this is not an agent file: name an agent, as in ":AxeRun reviewer Look at this"', vim.log.levels.ERROR)
    return nil
  end
  return { agent = name }, task
end

--- The lines of a range, below what the user has written about them.
local function with_lines(task, given)
  if given.range == 0 then
    return task
  end
  local lines = vim.api.nvim_buf_get_lines(0, given.line1 - 1, given.line2, false)
  return vim.trim(task .. '\n\n' .. table.concat(lines, '\n'))
end

function M.run(given)
  local bufnr = vim.api.nvim_get_current_buf()
  if given.bang then
    return runs.run_again(bufnr)
  end
  local which, task = read(given.args, bufnr)
  if which then
    runs.run(which, with_lines(task, given), bufnr)
  end
end

function M.preview(given)
  local bufnr = vim.api.nvim_get_current_buf()
  local which, task = read(given.args, bufnr)
  if which then
    runs.preview(which, with_lines(task, given), bufnr)
  end
end

function M.resume()
  runs.resume(vim.api.nvim_get_current_buf())
end

function M.reply(given)
  runs.reply(given.args, vim.api.nvim_get_current_buf())
end

function M.send(given)
  require('axe_lsp.messages').send(given.args, given.bang)
end

function M.queue()
  require('axe_lsp.messages').queue()
end

function M.fork()
  runs.fork(vim.api.nvim_get_current_buf())
end

function M.undo()
  runs.undo(vim.api.nvim_get_current_buf())
end

function M.changes()
  if vim.bo.filetype == 'axeruns' then
    runs.changes_at_cursor()
  else
    runs.changes(vim.api.nvim_get_current_buf())
  end
end

function M.test(given)
  require('axe_lsp.testing').test(given.args, given.bang, vim.api.nvim_get_current_buf())
end

function M.new_test()
  runs.new_test(vim.api.nvim_get_current_buf())
end

function M.stop(given)
  if given.bang then
    runs.stop_all()
  else
    runs.stop(given.args)
  end
end

function M.runs(given)
  if given.bang then
    history.show_live()
  else
    history.pick(given.args, vim.api.nvim_get_current_buf())
  end
end

local function fitting(names, typed)
  local found = {}
  for _, name in ipairs(names) do
    if vim.startswith(name, typed) and not vim.tbl_contains(found, name) then
      table.insert(found, name)
    end
  end
  return found
end

local function agents()
  local client = requests.any()
  local all = client and requests.ask(client, 'axe/agents', {}) or {}
  return vim.tbl_map(function(agent)
    return agent.name
  end, all)
end

--- The names of agents.
function M.complete_agent(typed)
  return fitting(agents(), typed)
end

--- The same, where the first word is one.
function M.complete_run(typed, line)
  local is_first = line:match('^%s*%S+%s+%S*$')
  if not is_first or is_agent(vim.api.nvim_get_current_buf()) then
    return {}
  end
  return fitting(agents(), typed)
end

--- The cases of this file of tests.
function M.complete_case(typed)
  return fitting(require('axe_lsp.testing').cases(vim.api.nvim_get_current_buf()), typed)
end

--- The agents that are at work.
function M.complete_stop(typed)
  local names = vim.tbl_map(function(run)
    return run.begun.side or run.begun.agent
  end, runs.active(true))
  return fitting(names, typed)
end

--- Lets the user answer what an agent asks.
function M.answer()
  require('axe_lsp.approvals').answer()
end

return M

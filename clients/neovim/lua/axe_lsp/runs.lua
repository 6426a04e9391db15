-- Runs of agents: starts and stops them, and shows what happens in the buffer "axe://runs".

local M = {}

local REQUEST_CANCELLED = -32800

local buffer
local active = {} -- the agents of the root runs that are under way, by run id

--- A buffer for text that belongs to no file.
local function scratch_buffer(name)
  local bufnr = vim.api.nvim_create_buf(true, true)
  vim.api.nvim_buf_set_name(bufnr, name)
  return bufnr
end

local function runs_buffer()
  if not (buffer and vim.api.nvim_buf_is_valid(buffer)) then
    buffer = scratch_buffer('axe://runs')
  end
  return buffer
end

local function show(bufnr)
  if vim.fn.bufwinid(bufnr) == -1 then
    vim.cmd('botright 12split')
    vim.api.nvim_win_set_buf(0, bufnr)
    vim.cmd('wincmd p')
  end
end

--- Appends to the last line, and lets the windows that show it follow.
local function append(text)
  local bufnr = runs_buffer()
  local last = vim.api.nvim_buf_line_count(bufnr) - 1
  local column = #vim.api.nvim_buf_get_lines(bufnr, last, last + 1, true)[1]
  vim.api.nvim_buf_set_text(bufnr, last, column, last, column, vim.split(text, '\n', { plain = true }))
  for _, window in ipairs(vim.fn.win_findbuf(bufnr)) do
    vim.api.nvim_win_set_cursor(window, { vim.api.nvim_buf_line_count(bufnr), 0 })
  end
end

local log = require('axe_lsp.log').new(append)

local function follow_agent(event)
  log['axe/agent'](event)
  if event.runId == event.rootRunId then
    active[event.runId] = event.kind == 'begin' and event.agent or nil
  end
end

local function handler(show_event)
  return function(_, event)
    show_event(event)
  end
end

M.handlers = {
  ['axe/agent'] = handler(follow_agent),
  ['axe/turn'] = handler(log['axe/turn']),
  ['axe/text'] = handler(log['axe/text']),
  ['axe/tool'] = handler(log['axe/tool']),
}

--- The server that checks the current buffer; an error for the user where there is none.
local function current_client()
  local clients = vim.lsp.get_clients and vim.lsp.get_clients({ bufnr = 0 }) or vim.lsp.buf_get_clients(0)
  for _, client in pairs(clients) do
    if client.name == 'axe_lsp' then
      return client
    end
  end
  vim.notify('axe: this is not an agent file (a TOML file in axe/agents), or axe-lsp is not running', vim.log.levels.ERROR)
end

--- Asks the server; failures are shown, except the one that a cancelled run ends with.
local function request(client, method, params, on_result)
  local function answer(failure, result)
    if not failure then
      on_result(result)
    elseif failure.code ~= REQUEST_CANCELLED then
      vim.notify('axe: ' .. failure.message, vim.log.levels.ERROR)
    end
  end
  if vim.fn.has('nvim-0.11') == 1 then
    client:request(method, params, answer, 0)
  else
    client.request(method, params, answer, 0)
  end
end

--- Runs the agent of the current buffer, saved or not. Without a task it works on its own instructions.
function M.run(task)
  local client = current_client()
  if client then
    show(runs_buffer())
    local params = { uri = vim.uri_from_bufnr(0), task = task ~= '' and task or nil }
    request(client, 'axe/run', params, function() end)
  end
end

--- Shows what would be sent to the provider.
function M.preview()
  local client = current_client()
  if client then
    request(client, 'axe/preview', { uri = vim.uri_from_bufnr(0) }, function(result)
      local bufnr = vim.api.nvim_create_buf(false, true)
      vim.api.nvim_buf_set_lines(bufnr, 0, -1, true, vim.split(result.text, '\n', { plain = true }))
      show(bufnr)
    end)
  end
end

--- Stops the run that is under way, or the one the user picks.
function M.stop()
  local client = current_client()
  local ids = vim.tbl_keys(active)
  if not client or #ids == 0 then
    return
  end
  local function stop(id)
    if id then
      request(client, 'axe/stop', { runId = id }, function() end)
    end
  end
  if #ids == 1 then
    stop(ids[1])
    return
  end
  vim.ui.select(ids, {
    prompt = 'Which run?',
    format_item = function(id)
      return active[id] .. ' ' .. id
    end,
  }, stop)
end

return M

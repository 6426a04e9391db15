-- The diagnostics of a text, once they are known to be about it: a language server is asked for them, or has published
-- them with the version of the text, or after the text was sent to it, and nothing more for a while.

local waiting = require('axe_lsp.code.waiting')

local M = {}

local PULL, PUSH = 'textDocument/diagnostic', 'textDocument/publishDiagnostics'
local AFRESH = { [-32801] = true, [-32802] = true } -- content modified, server cancelled: ask again
local AFRESH_MS = 50
local QUIET_MS = 400 -- after a publication without a version: servers publish in parts
local VERSIONED_QUIET_MS = 40 -- the same after one with the version

-- By the id of the client and the number of the buffer: `sent`, the version that the server has got, and what was
-- published about it: `items`, `at` in milliseconds, `is_versioned`.
local states = {}
local listeners = {}
local is_silent = {} -- clients that published nothing when they should have, by id
local has_spoken = {} -- clients that have published, by id

local function state_of(client_id, bufnr)
  states[client_id] = states[client_id] or {}
  states[client_id][bufnr] = states[client_id][bufnr] or {}
  return states[client_id][bufnr]
end

--- The buffer of a file that a client was sent.
local function buffer_of(client, uri)
  local path = vim.uri_to_fname(uri)
  for bufnr in pairs(client.attached_buffers) do
    if vim.api.nvim_buf_is_loaded(bufnr) and vim.api.nvim_buf_get_name(bufnr) == path then
      return bufnr
    end
  end
end

local function published(client, params)
  has_spoken[client.id], is_silent[client.id] = true, nil
  local bufnr = buffer_of(client, params.uri)
  if not bufnr then
    return
  end
  local state = state_of(client.id, bufnr)
  state.is_versioned = type(params.version) == 'number'
  state.version = state.is_versioned and params.version or state.sent
  state.items, state.at = params.diagnostics, waiting.now()
  for wake in pairs(listeners) do
    wake()
  end
end

--- Hears what a client publishes from now on, beside whoever shows it.
local function hear(client)
  local given = client.handlers
  client.handlers = setmetatable({
    [PUSH] = function(failure, params, context, ...)
      if params then
        published(client, params)
      end
      local show = given[PUSH] or vim.lsp.handlers[PUSH]
      return show(failure, params, context, ...)
    end,
  }, { __index = given })
end

local function sent(event)
  local method, params = event.data.method, event.data.params
  if method == 'textDocument/didOpen' or method == 'textDocument/didChange' then
    state_of(event.data.client_id, event.buf).sent = params.textDocument.version
  end
end

--- Begins to listen to all language servers but that of agents.
function M.begin()
  local heard = {}
  local function attach(client)
    if client and client.name ~= 'axe_lsp' and not heard[client.id] then
      heard[client.id] = true
      hear(client)
    end
  end
  vim.tbl_map(attach, vim.lsp.get_clients())
  local group = vim.api.nvim_create_augroup('axe_lsp_code', {})
  vim.api.nvim_create_autocmd('LspAttach', {
    group = group,
    callback = function(event)
      attach(vim.lsp.get_client_by_id(event.data.client_id))
    end,
  })
  vim.api.nvim_create_autocmd('LspNotify', { group = group, callback = sent })
  -- Neovim gives a text that is read again the version of the text before.
  vim.api.nvim_create_autocmd('BufReadPre', {
    group = group,
    callback = function(event)
      if #vim.lsp.get_clients({ bufnr = event.buf }) > 0 then
        vim.lsp.util.buf_versions[event.buf] = vim.api.nvim_buf_get_changedtick(event.buf) + 1
      end
    end,
  })
  vim.api.nvim_create_autocmd('BufUnload', {
    group = group,
    callback = function(event)
      for _, of_client in pairs(states) do
        of_client[event.buf] = nil
      end
    end,
  })
end

--- Whether a client checks texts, as far as that is known.
local function checks(client, bufnr)
  return client:supports_method(PULL, bufnr) or not is_silent[client.id]
end

--- Asks a client for the diagnostics of a text until it gives them.
local function pull(client, bufnr, deadline, on_items)
  local params = {
    textDocument = { uri = vim.uri_from_bufnr(bufnr) },
    identifier = vim.tbl_get(client.server_capabilities, 'diagnosticProvider', 'identifier'),
  }
  client:request(PULL, params, function(failure, report)
    if failure and AFRESH[failure.code] and waiting.left(deadline) > 0 then
      vim.defer_fn(function()
        pull(client, bufnr, deadline, on_items)
      end, AFRESH_MS)
    else
      on_items(not failure and report and report.kind == 'full' and report.items or nil)
    end
  end, bufnr)
end

--- What a client has published about the text as it is now, and when that is all.
local function pushed(client, bufnr)
  local state = state_of(client.id, bufnr)
  if state.items and state.version == vim.lsp.util.buf_versions[bufnr] then
    return state.items, state.at + (state.is_versioned and VERSIONED_QUIET_MS or QUIET_MS)
  end
end

--- Gives what a client publishes about a text, as soon as that is all. The function that is returned ends the waiting;
--- a client that has never published anything by then does not check texts.
local function await_push(client, bufnr, on_items)
  local is_done
  local look
  function look()
    local items, quiet_at = pushed(client, bufnr)
    if is_done or not vim.api.nvim_buf_is_loaded(bufnr) then
      return
    elseif items and waiting.left(quiet_at) == 0 then
      is_done = true
      listeners[look] = nil
      on_items(items)
    elseif items then
      vim.defer_fn(look, math.ceil(waiting.left(quiet_at)))
    end
  end
  listeners[look] = true
  look()
  return function()
    is_done = true
    listeners[look] = nil
    is_silent[client.id] = not has_spoken[client.id] or nil
  end
end

--- The diagnostics of the text of a buffer, by clients, until a deadline: a list for each client that checks it. The
--- second value says what else there is: `unknown` if one of them has not finished, `unserved` if none checks it.
function M.diagnostics(clients, bufnr, deadline)
  local checking = vim.tbl_filter(function(client)
    return checks(client, bufnr)
  end, clients)
  if #checking == 0 then
    return {}, 'unserved'
  end
  local give_up = {}
  local may_wait = waiting.left(deadline) > 0
  local starts = vim.tbl_map(function(client)
    return function(on_items)
      if not client:supports_method(PULL, bufnr) then
        table.insert(give_up, await_push(client, bufnr, on_items))
      elseif may_wait then
        pull(client, bufnr, deadline, on_items)
      end
    end
  end, checking)
  local tick = vim.api.nvim_buf_get_changedtick(bufnr)
  local lists = waiting.gather(starts, waiting.left(deadline))
  local is_complete = vim.api.nvim_buf_is_loaded(bufnr) and vim.api.nvim_buf_get_changedtick(bufnr) == tick
  for index, client in ipairs(checking) do
    is_complete = is_complete and lists[index] ~= nil
    if lists[index] and client:supports_method(PULL, bufnr) then
      lists[index] = vim.list_extend(vim.list_slice(lists[index]), (pushed(client, bufnr)) or {})
    end
  end
  for _, finish in ipairs(may_wait and give_up or {}) do
    finish()
  end
  return lists, not is_complete and 'unknown' or nil
end

return M

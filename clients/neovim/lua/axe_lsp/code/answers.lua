-- Answers what tools of agents ask about code, from the language servers of this Neovim.

local checks = require('axe_lsp.code.checks')
local texts = require('axe_lsp.code.texts')
local waiting = require('axe_lsp.code.waiting')

local M = {}

local MOST_ITEMS = 300
local ATTACH_MS = 1000 -- for language servers to be started for a file that was not open
local START_MS = 8000 -- for one that has not answered yet: it may be reading the project
local AGAIN_MS = 300

local SEVERITIES = { 'error', 'warning', 'information', 'hint' }
local METHODS = {
  definition = 'textDocument/definition',
  references = 'textDocument/references',
  hover = 'textDocument/hover',
  symbols = 'textDocument/documentSymbol',
  incomingCalls = 'textDocument/prepareCallHierarchy',
  outgoingCalls = 'textDocument/prepareCallHierarchy',
}

local has_answered = {} -- clients that have answered something, by id
local is_unserved = {} -- filetypes for which no language server was started in time

local function limited(items, answer)
  answer.items = vim.list_slice(items, 1, MOST_ITEMS)
  answer.leftOut = math.max(0, #items - MOST_ITEMS)
  return answer
end

--- A place, with its line if the file is open: the server reads that of other files itself.
local function place(uri, range, more)
  local item = vim.tbl_extend('error', { uri = uri, line = range.start.line + 1 }, more or {})
  local bufnr = texts.loaded(vim.uri_to_fname(uri))
  if bufnr then
    local line = vim.api.nvim_buf_get_lines(bufnr, range.start.line, range.start.line + 1, false)[1]
    item.text = line and vim.trim(line)
  end
  return item
end

local function places(result)
  local all = vim.islist(result) and result or { result }
  return vim.tbl_map(function(each)
    return place(each.targetUri or each.uri, each.targetSelectionRange or each.range)
  end, all)
end

local function symbol_items(result, uri)
  local items = {}
  local function add(symbol)
    local kind = (vim.lsp.protocol.SymbolKind[symbol.kind] or 'symbol'):lower()
    local location = symbol.location or { uri = uri, range = symbol.selectionRange }
    -- A symbol of the workspace may have only a file.
    local range = location.range or { start = { line = 0 } }
    table.insert(items, place(location.uri, range, { name = symbol.name, kind = kind }))
    for _, child in ipairs(symbol.children or {}) do
      add(child)
    end
  end
  vim.tbl_map(add, result)
  return items
end

local function hover_items(result)
  local contents = result.contents
  local parts = type(contents) == 'table' and vim.islist(contents) and contents or { contents }
  local words = vim.tbl_map(function(part)
    return type(part) == 'string' and part or part.value
  end, parts)
  return { { message = table.concat(words, '\n\n') } }
end

--- What clients answer, in one list; a client without an answer, or with an error, adds nothing. The second value is
--- whether one has answered at all.
local function ask(clients, bufnr, deadline, question)
  local starts = vim.tbl_map(function(client)
    return function(on_items)
      local method, params, convert = question(client)
      client:request(method, params, function(failure, result)
        local is_there = not failure and result ~= nil and result ~= vim.NIL
        on_items({ items = is_there and convert(result, client) or {}, is_answer = not failure })
      end, bufnr)
    end
  end, clients)
  local items, is_answered = {}, false
  for _, answer in pairs(waiting.gather(starts, waiting.left(deadline))) do
    vim.list_extend(items, answer.items)
    is_answered = is_answered or answer.is_answer
  end
  return items, is_answered
end

local function calls(clients, bufnr, deadline, direction)
  local items = {}
  for client_id, list in pairs(clients) do
    local client = vim.lsp.get_client_by_id(client_id)
    for _, item in ipairs(client and list or {}) do
      vim.list_extend(
        items,
        (ask({ client }, bufnr, deadline, function()
          return 'callHierarchy/' .. direction, { item = item }, function(result)
            return vim.iter(result)
              :map(function(call)
                local target = call.from or call.to
                local ranges = call.from and call.fromRanges or { target.selectionRange }
                return vim.tbl_map(function(range)
                  return place(target.uri, range, { name = target.name })
                end, ranges)
              end)
              :flatten()
              :totable()
          end
        end))
      )
    end
  end
  return items
end

local function is_word(text)
  return text:match('^[%w_]') ~= nil or (text:byte() or 0) >= 128 and vim.fn.charclass(text) >= 2
end

--- The first byte of the first whole word `name` on a line, from 0; nil if there is none.
function M.column(line, name)
  local first, last = nil, 0
  repeat
    first, last = line:find(name, last + 1, true)
    local before = first and first > 1 and line:sub(first - 1 + vim.str_utf_start(line, first - 1), first - 1) or ''
    local after = first and last < #line and line:sub(last + 1, last + 1 + vim.str_utf_end(line, last + 1)) or ''
  until not first or name == '' or not is_word(before) and not is_word(after)
  return first and name ~= '' and first - 1 or nil
end

--- The language servers of a buffer, once they have been started; for a buffer that was just loaded it is waited
--- until `deadline`. The second value is whether there may be more.
local function clients_of(bufnr, deadline)
  local function all(filter)
    return vim.tbl_filter(function(client)
      return client.name ~= 'axe_lsp'
    end, vim.lsp.get_clients(filter))
  end
  local filetype = vim.bo[bufnr].filetype
  while true do
    local ready = all({ bufnr = bufnr })
    local starting = #all({ bufnr = bufnr, _uninitialized = true }) > #ready
    local to_come = 0
    if #ready > 0 or starting then
      is_unserved[filetype] = nil
    elseif not is_unserved[filetype] then
      to_come = ATTACH_MS - (texts.age(bufnr) or ATTACH_MS)
      is_unserved[filetype] = to_come <= 0 or nil
    end
    local left = math.min(waiting.left(deadline), starting and math.huge or to_come)
    if left <= 0 then
      return ready, starting or to_come > 0
    end
    local autocmd
    waiting.pause(left, function(wake)
      autocmd = vim.api.nvim_create_autocmd('LspAttach', { buffer = bufnr, callback = vim.schedule_wrap(wake) })
    end)
    vim.api.nvim_del_autocmd(autocmd)
  end
end

--- The items that clients answer a question with, which is put again while they are none and a server may be starting.
local function once_started(clients, deadline, put)
  local start = waiting.now()
  while true do
    local items, is_answered = put()
    local may_start = vim.iter(clients):any(function(client)
      return not has_answered[client.id]
    end)
    local end_of_start = math.min(deadline, start + START_MS)
    if #items > 0 or not may_start or waiting.left(end_of_start) <= AGAIN_MS then
      for _, client in ipairs(is_answered and clients or {}) do
        has_answered[client.id] = true
      end
      return items
    end
    waiting.pause(AGAIN_MS)
  end
end

local function supporting(clients, method, bufnr)
  return vim.tbl_filter(function(client)
    return client:supports_method(method, bufnr)
  end, clients)
end

local function items_of(uri, lists)
  local items = {}
  for _, diagnostic in ipairs(vim.iter(lists):flatten():totable()) do
    local message = diagnostic.message
    local source = vim.trim(('%s %s'):format(diagnostic.source or '', diagnostic.code or ''))
    table.insert(items, {
      uri = uri,
      line = diagnostic.range.start.line + 1,
      message = type(message) == 'table' and message.value or message,
      severity = SEVERITIES[diagnostic.severity] or 'error',
      source = source ~= '' and source or nil,
    })
  end
  return items
end

local function diagnostics_of(bufnr, uri, digest, deadline)
  if digest and texts.digest(bufnr) ~= digest then
    return vim.empty_dict()
  end
  local clients, may_come = clients_of(bufnr, deadline)
  if #clients == 0 and may_come then
    return vim.empty_dict()
  end
  local lists, lack = checks.diagnostics(clients, bufnr, deadline)
  if lack == 'unserved' and not may_come then
    return { missing = 'server' }
  elseif lack or digest and texts.digest(bufnr) ~= digest then
    return vim.empty_dict()
  end
  return limited(items_of(uri, lists), { checked = { [uri] = texts.digest(bufnr) } })
end

--- The diagnostics of the texts that are open.
local function diagnostics_of_open(deadline)
  local items, checked = {}, vim.empty_dict()
  for _, bufnr in ipairs(vim.api.nvim_list_bufs()) do
    local path = vim.api.nvim_buf_is_loaded(bufnr) and vim.bo[bufnr].buftype == '' and vim.api.nvim_buf_get_name(bufnr)
    if path and path ~= '' and texts.is_here(path) and #clients_of(bufnr, 0) > 0 then
      local answer = diagnostics_of(bufnr, vim.uri_from_fname(path), nil, deadline)
      vim.list_extend(items, answer.items or {})
      checked = vim.tbl_extend('force', checked, answer.checked or {})
    end
  end
  return limited(items, { checked = checked })
end

local function symbols_of_workspace(query, deadline)
  local clients = supporting(vim.lsp.get_clients(), 'workspace/symbol')
  clients = vim.tbl_filter(function(client)
    return client.name ~= 'axe_lsp'
  end, clients)
  local items = ask(clients, nil, deadline, function()
    return 'workspace/symbol', { query = query }, symbol_items
  end)
  return limited(items, {})
end

local function position_of(client, line, number, column)
  return { line = number - 1, character = vim.str_utfindex(line, client.offset_encoding, column) }
end

local function about_code(bufnr, params, deadline)
  local question = params.question
  local clients = supporting((clients_of(bufnr, deadline)), METHODS[question], bufnr)
  local number = params.line or 0
  local line = vim.api.nvim_buf_get_lines(bufnr, number - 1, number, false)[1] or ''
  local column = question ~= 'symbols' and number > 0 and M.column(line, params.name or '')
  if question ~= 'symbols' and not column then
    return { missing = 'name' }
  elseif #clients == 0 then
    return { missing = 'server' }
  end
  local uri = vim.uri_from_bufnr(bufnr)
  local by_client = {}
  local function convert(result, client)
    if question == 'symbols' then
      return symbol_items(result, uri)
    elseif question == 'hover' then
      return hover_items(result)
    elseif question == 'definition' or question == 'references' then
      return places(result)
    end
    by_client[client.id] = result
    return {}
  end
  local function put()
    local items, is_answered = ask(clients, bufnr, deadline, function(client)
      local asked = { textDocument = { uri = uri }, position = column and position_of(client, line, number, column) }
      asked.context = question == 'references' and { includeDeclaration = true } or nil
      return METHODS[question], asked, convert
    end)
    return next(by_client) and calls(by_client, bufnr, deadline, question) or items, is_answered
  end
  return limited(once_started(clients, deadline, put), {})
end

--- Answers axe/editor.
function M.answer(_, params)
  local deadline = waiting.now() + params.timeoutMs
  if not params.uri then
    local is_diagnostics = params.question == 'diagnostics'
    return is_diagnostics and diagnostics_of_open(deadline) or symbols_of_workspace(params.name or '', deadline)
  end
  local path = vim.uri_to_fname(params.uri)
  if not texts.is_here(path) then
    return { missing = 'folder' }
  end
  local bufnr = texts.open(path, params.rootRunId)
  if params.question == 'diagnostics' then
    return diagnostics_of(bufnr, params.uri, params.digest, deadline)
  end
  return about_code(bufnr, params, deadline)
end

return M

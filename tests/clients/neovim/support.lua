-- What the scenarios share: waiting for what the user would see, and talking with the test that started Neovim.

local M = {}

local TIMEOUT = 100000 -- generous, because the machine may be busy; only a failing test waits that long

--- What a buffer shows, with the virtual text behind its lines.
function M.shown(bufnr)
  local lines = vim.api.nvim_buf_get_lines(bufnr, 0, -1, true)
  local namespace = vim.api.nvim_create_namespace('axe_lsp_runs')
  for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(bufnr, namespace, 0, -1, { details = true })) do
    local _, row, _, details = unpack(mark)
    lines[row + 1] = lines[row + 1] .. (details.virt_text and ' ' .. details.virt_text[1][1] or '')
  end
  return table.concat(lines, '\n')
end

function M.runs_text()
  local buffer = vim.fn.bufnr('^axe://runs$')
  return buffer > 0 and M.shown(buffer) or ''
end

--- The diagnostics of the current buffer in their order, as `code text`, with the text that is underlined.
function M.diagnostics()
  local found = vim.diagnostic.get(0)
  table.sort(found, function(one, other)
    return one.lnum < other.lnum or one.lnum == other.lnum and one.col < other.col
  end)
  return vim.tbl_map(function(diagnostic)
    local range = { diagnostic.lnum, diagnostic.col, diagnostic.end_lnum, diagnostic.end_col }
    local code = diagnostic.code or diagnostic.user_data.lsp.code -- before 0.8 it is only there
    return code .. ' ' .. table.concat(vim.api.nvim_buf_get_text(0, range[1], range[2], range[3], range[4], {}), '\n')
  end, found)
end

--- What `see` returns, as soon as that is true.
function M.wait_for(what, see)
  local seen
  vim.wait(TIMEOUT, function()
    seen = see()
    return seen
  end, 10)
  if not seen then
    local buffers = vim.tbl_map(M.shown, vim.tbl_filter(vim.api.nvim_buf_is_loaded, vim.api.nvim_list_bufs()))
    local shown = table.concat(buffers, '\n----\n')
    error(('waited in vain for %s\ndiagnostics: %s\nbuffers:\n%s'):format(what, vim.inspect(M.diagnostics()), shown))
  end
  return seen
end

function M.wait_for_diagnostics(expected)
  M.wait_for('the diagnostics ' .. vim.inspect(expected), function()
    return vim.deep_equal(M.diagnostics(), expected)
  end)
end

--- What the user is told, from now on; the list grows.
function M.notices()
  local told = {}
  vim.notify = function(text)
    table.insert(told, text)
  end
  vim.notify_once = vim.notify
  return told
end

--- The numbers of diagnostics that the server sends for files of a name, from now on; the list grows.
function M.sent_diagnostics(name)
  local sent = {}
  for _, method in ipairs({ 'textDocument/publishDiagnostics', 'textDocument/diagnostic' }) do
    local handler = vim.lsp.handlers[method]
    vim.lsp.handlers[method] = function(err, result, context, ...)
      local uri = result and (result.uri or context.params.textDocument.uri) or ''
      if vim.endswith(uri, '/' .. name) then
        table.insert(sent, #(result.diagnostics or result.items or {}))
      end
      return handler(err, result, context, ...)
    end
  end
  return sent
end

function M.clients()
  return vim.lsp.get_clients and vim.lsp.get_clients({ bufnr = 0 }) or vim.tbl_values(vim.lsp.buf_get_clients(0))
end

--- Waits until the server knows the current buffer.
function M.wait_for_server()
  M.wait_for('the server', function()
    return #M.clients() == 1
  end)
end

--- The buffer that contains a text.
function M.buffer_with(text)
  for _, buffer in ipairs(vim.api.nvim_list_bufs()) do
    if table.concat(vim.api.nvim_buf_get_lines(buffer, 0, -1, false), '\n'):find(text, 1, true) then
      return buffer
    end
  end
end

--- Waits until the log of the runs has all of these.
function M.wait_for_log(...)
  for _, text in ipairs({ ... }) do
    M.wait_for('the log to say ' .. text, function()
      return M.runs_text():find(text, 1, true)
    end)
  end
end

--- Edits the buffer as typing would, without saving it.
function M.replace(old, new)
  for number, line in ipairs(vim.api.nvim_buf_get_lines(0, 0, -1, true)) do
    local first, last = line:find(old, 1, true)
    if first then
      vim.api.nvim_buf_set_text(0, number - 1, first - 1, number - 1, last, { new })
      return
    end
  end
  error('the buffer does not contain ' .. old)
end

--- Tells the test that started Neovim how far it has come.
function M.report(text)
  io.stdout:write(text .. '\n')
  io.stdout:flush()
end

--- Runs a scenario and leaves Neovim with 0, or with 1 and the reason on standard error.
function M.play(scenario)
  local good, reason = xpcall(scenario, debug.traceback)
  if good then
    vim.cmd('qall!')
  end
  io.stderr:write(reason .. '\n')
  vim.cmd('cquit 1')
end

return M

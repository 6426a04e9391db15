-- Asking the server, in the words of each version of Neovim.

local words = require('axe_lsp.words')

local M = {}

local REQUEST_CANCELLED = -32800
local PATIENCE = 1000 -- milliseconds; for what is asked while the user types

local function clients(bufnr)
  local all
  if vim.lsp.get_clients then
    all = vim.lsp.get_clients({ bufnr = bufnr })
  else
    all = bufnr and vim.lsp.buf_get_clients(bufnr) or vim.lsp.get_active_clients()
  end
  return vim.tbl_filter(function(client)
    return client.name == 'axe_lsp'
  end, vim.tbl_values(all))
end

--- The server that checks a buffer, if one does.
function M.checking(bufnr)
  return clients(bufnr)[1]
end

--- Any server that runs; the one of the current project if there are several.
function M.any()
  local all, here = clients(), vim.fn.getcwd()
  for _, client in ipairs(all) do
    if client.config.root_dir and vim.startswith(here .. '/', client.config.root_dir .. '/') then
      return client
    end
  end
  return all[1]
end

--- The server for a buffer of any kind; one is started if there is none. An error for the user where that can't be.
function M.client_for(bufnr)
  local client = M.checking(bufnr) or M.any()
  if client then
    return client
  end
  local server = require('axe_lsp.server')
  local config = server.configuration()
  if server.is_there(config) then
    local id = server.start(require('axe_lsp.files').project(vim.fn.getcwd()), config)
    client = id and vim.lsp.get_client_by_id(id)
  end
  if not client then
    vim.notify('axe: axe-lsp is not running; ":checkhealth axe_lsp" says why', vim.log.levels.ERROR)
  end
  return client
end

local function request(client, ...)
  if vim.fn.has('nvim-0.11') == 1 then
    return client:request(...)
  end
  return client.request(...)
end

--- Asks the server; failures are shown, except the one that a cancelled run ends with.
--- `bufnr` is the buffer that the question is about: what was typed there is sent first. Neovim 0.7 doesn't
--- know that 0 is the current one here.
function M.send(client, method, params, bufnr, on_result)
  request(client, method, params, function(failure, result)
    if not failure then
      on_result(words.visible(result))
    elseif failure.code ~= REQUEST_CANCELLED then
      vim.notify('axe: ' .. words.visible(failure.message), vim.log.levels.ERROR)
    end
  end, bufnr)
end

--- Asks the server for what the user has not asked for; a failure is not shown.
function M.look(client, method, params, on_answer)
  request(client, method, params, function(_, result)
    on_answer(words.visible(result))
  end, vim.api.nvim_get_current_buf())
end

--- What the server answers, if it does so at once.
function M.ask(client, method, params)
  local answered, answer
  request(client, method, params, function(_, result)
    answered, answer = true, words.visible(result)
  end, vim.api.nvim_get_current_buf())
  vim.wait(PATIENCE, function()
    return answered
  end, 5)
  return answer
end

return M

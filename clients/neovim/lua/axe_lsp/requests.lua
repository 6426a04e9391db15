-- Asking the server, in the words of each version of Neovim.

local M = {}

local REQUEST_CANCELLED = -32800

--- The server that checks a buffer; an error for the user where there is none.
function M.client_of(bufnr)
  local clients = vim.lsp.get_clients and vim.lsp.get_clients({ bufnr = bufnr }) or vim.lsp.buf_get_clients(bufnr)
  for _, client in pairs(clients) do
    if client.name == 'axe_lsp' then
      return client
    end
  end
  vim.notify('axe: this is not an agent file (a TOML file in axe/agents), or axe-lsp is not running', vim.log.levels.ERROR)
end

--- Asks the server; failures are shown, except the one that a cancelled run ends with.
--- `bufnr` is the buffer that the question is about: what was typed there is sent first. Neovim 0.7 doesn't
--- know that 0 is the current one here.
function M.send(client, method, params, bufnr, on_result)
  local function answer(failure, result)
    if not failure then
      on_result(result)
    elseif failure.code ~= REQUEST_CANCELLED then
      vim.notify('axe: ' .. failure.message, vim.log.levels.ERROR)
    end
  end
  if vim.fn.has('nvim-0.11') == 1 then
    client:request(method, params, answer, bufnr)
  else
    client.request(method, params, answer, bufnr)
  end
end

return M

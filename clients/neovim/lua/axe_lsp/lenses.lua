-- What the code lenses above an agent do in Neovim. Without these, Run would only show the answer.

local requests = require('axe_lsp.requests')
local runs = require('axe_lsp.runs')
local views = require('axe_lsp.views')

local M = {}

local SHOW_REFERENCES = 'axe.showReferences'

--- What the server is told, so that it offers the lens.
M.capabilities = { experimental = { commands = { commands = { SHOW_REFERENCES } } } }

local function ask_and_run(command)
  local which = command.arguments[1]
  vim.ui.input({ prompt = 'Task (empty: its own instructions, or its input): ' }, function(task)
    if task then
      runs.run({ uri = which.uri }, task, vim.uri_to_bufnr(which.uri))
    end
  end)
end

local function preview(command)
  local uri = command.arguments[1].uri
  runs.preview({ uri = uri }, '', vim.uri_to_bufnr(uri))
end

local function show_references(command, context)
  local uri, position = unpack(command.arguments)
  local client = vim.lsp.get_client_by_id(context.client_id)
  local params = { textDocument = { uri = uri }, position = position, context = { includeDeclaration = false } }
  requests.send(client, 'textDocument/references', params, vim.uri_to_bufnr(uri), function(locations)
    views.list(command.title, locations or {}, client.offset_encoding)
  end)
end

M.commands = {
  ['axe.run'] = ask_and_run,
  ['axe.preview'] = preview,
  [SHOW_REFERENCES] = show_references,
}

return M

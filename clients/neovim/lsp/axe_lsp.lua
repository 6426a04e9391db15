-- The server's configuration, found by vim.lsp.enable('axe_lsp') (Neovim 0.11 and later) and by the fallback
-- for older versions in plugin/axe_lsp.lua. Change it with vim.lsp.config('axe_lsp', { … }).

local approvals = require('axe_lsp.approvals')
local lenses = require('axe_lsp.lenses')
local runs = require('axe_lsp.runs')

return {
  cmd = { 'axe-lsp', '--stdio' },
  filetypes = { 'toml', 'markdown' },
  handlers = runs.handlers,
  on_exit = runs.on_exit,
  commands = lenses.commands,
  capabilities = vim.tbl_deep_extend('error', lenses.capabilities, approvals.capabilities),
  -- Other files are none of the server's business: without a call of on_dir it isn't started for them.
  root_dir = function(bufnr, on_dir)
    local root = require('axe_lsp.files').root(vim.api.nvim_buf_get_name(bufnr))
    if root then
      on_dir(root)
    end
  end,
}

-- Commands, and the start of the server for agent files.

local function command(name, action, options)
  vim.api.nvim_create_user_command(name, action, options)
end

command('AxeRun', function(given)
  require('axe_lsp.runs').run(given.args)
end, { nargs = '*', desc = 'Run the agent in this buffer with a task' })

command('AxePreview', function()
  require('axe_lsp.runs').preview()
end, { desc = 'Show what would be sent to the provider' })

command('AxeStop', function()
  require('axe_lsp.runs').stop()
end, { desc = 'Stop a run and everything below it' })

if vim.fn.has('nvim-0.11') == 1 then
  vim.lsp.enable('axe_lsp')
  return
end

-- Before 0.11 a client is started by hand, one for each project.
local clients = {}

local function attach(bufnr)
  local config = dofile(vim.api.nvim_get_runtime_file('lsp/axe_lsp.lua', false)[1])
  config.root_dir(bufnr, function(root)
    local client = clients[root]
    if not client or not vim.lsp.get_client_by_id(client) then
      client = vim.lsp.start_client({ name = 'axe_lsp', cmd = config.cmd, handlers = config.handlers, root_dir = root })
      clients[root] = client
    end
    if client then
      vim.lsp.buf_attach_client(bufnr, client)
    end
  end)
end

vim.api.nvim_create_autocmd('FileType', {
  pattern = 'toml',
  callback = function(event)
    attach(event.buf)
  end,
})

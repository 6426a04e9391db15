-- Commands, and the start of the server for agent files.

local function command(name, action, options)
  vim.api.nvim_create_user_command(name, action, options)
end

command('AxeRun', function(given)
  require('axe_lsp.runs').run(given.args, vim.api.nvim_get_current_buf())
end, { nargs = '*', desc = 'Run the agent in this buffer with a task' })

command('AxePreview', function()
  require('axe_lsp.runs').preview(vim.api.nvim_get_current_buf())
end, { desc = 'Show what would be sent to the provider' })

command('AxeStop', function()
  require('axe_lsp.runs').stop()
end, { desc = 'Stop a run and everything below it' })

command('AxeRuns', function()
  require('axe_lsp.history').pick(vim.api.nvim_get_current_buf())
end, { desc = 'Show what happened in a past run' })

local has_configurations = vim.fn.has('nvim-0.11') == 1

local function configuration()
  if has_configurations then
    return vim.lsp.config.axe_lsp
  end
  return dofile(vim.api.nvim_get_runtime_file('lsp/axe_lsp.lua', false)[1])
end

--- Whether the server's program is there. Neovim would be silent where it isn't; the user is told once.
local function has_server(config)
  local program = type(config.cmd) == 'table' and config.cmd[1]
  if not program or vim.fn.executable(program) == 1 then
    return true
  end
  local advice = 'axe: agent files are not checked, because "%s" is not on PATH. Install it from a clone of axe-lsp with '
    .. '"pipx install CLONE" or "uv tool install CLONE"; clients/neovim/README.md there tells more.'
  vim.notify_once(advice:format(program), vim.log.levels.WARN)
  return false
end

-- Before 0.11 a client is started by hand, one for each project.
local clients = {}

local function attach(bufnr, root, config)
  local client = clients[root]
  if not client or not vim.lsp.get_client_by_id(client) then
    local capabilities = vim.lsp.protocol.make_client_capabilities()
    client = vim.lsp.start_client({
      name = 'axe_lsp',
      cmd = config.cmd,
      root_dir = root,
      handlers = config.handlers,
      commands = config.commands,
      on_exit = config.on_exit,
      capabilities = vim.tbl_deep_extend('force', capabilities, config.capabilities),
    })
    clients[root] = client
  end
  if client then
    vim.lsp.buf_attach_client(bufnr, client)
  end
end

vim.api.nvim_create_autocmd('FileType', {
  pattern = 'toml',
  callback = function(event)
    local root = require('axe_lsp.files').root(vim.api.nvim_buf_get_name(event.buf))
    local config = root and configuration()
    if config and has_server(config) and not has_configurations then
      attach(event.buf, root, config)
    end
  end,
})

if has_configurations then
  vim.lsp.enable('axe_lsp')
end

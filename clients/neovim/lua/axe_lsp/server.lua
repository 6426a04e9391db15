-- The language server as a process: found, started for a buffer, and started again when it has died.

local files = require('axe_lsp.files')

local M = {}

local HAS_CONFIGURATIONS = vim.fn.has('nvim-0.11') == 1
local MOST_RESTARTS, WITHIN = 4, 180000 -- milliseconds
local KILLED_ON_PURPOSE = 15 -- SIGTERM, which Neovim itself sends

local clients = {} -- before 0.11: the client of each project
local deaths = {} -- when servers have died

--- What the user has configured: by vim.lsp.config('axe_lsp', …), before 0.11 by vim.g.axe_lsp.
function M.configuration()
  if HAS_CONFIGURATIONS then
    return vim.lsp.config.axe_lsp
  end
  local own = dofile(vim.api.nvim_get_runtime_file('lsp/axe_lsp.lua', false)[1])
  return vim.tbl_deep_extend('force', own, vim.g.axe_lsp or {})
end

--- The path of the server's program; nil where it is not installed, or is no program but a function.
function M.program(config)
  local program = type(config.cmd) == 'table' and config.cmd[1]
  local path = program and vim.fn.exepath(program) or ''
  return path ~= '' and path or nil
end

--- Whether the server can be started. Neovim would be silent where it can't; the user is told once.
function M.is_there(config)
  if type(config.cmd) ~= 'table' or M.program(config) then
    return true
  end
  local advice = 'axe: agent files are not checked, because "%s" is not on PATH. Install it from a clone of axe-lsp with '
    .. '"pipx install CLONE" or "uv tool install CLONE". See docs/neovim.md there.'
  vim.notify_once(advice:format(config.cmd[1]), vim.log.levels.WARN)
  return false
end

--- Starts a server for a folder; the value is the client's id.
function M.start(root, config)
  local capabilities = vim.tbl_deep_extend('force', vim.lsp.protocol.make_client_capabilities(), config.capabilities)
  local given = vim.tbl_extend('force', config, { name = 'axe_lsp', root_dir = root, capabilities = capabilities })
  if HAS_CONFIGURATIONS then
    return vim.lsp.start(given, { attach = false })
  end
  given.filetypes = nil
  return vim.lsp.start_client(given)
end

--- Has a server check a buffer, if it is an agent's; starts one if there is none for the project.
function M.attach(bufnr)
  local root = files.root(vim.api.nvim_buf_get_name(bufnr))
  local config = root and M.configuration()
  if not config or not M.is_there(config) then
    return
  end
  if not (clients[root] and vim.lsp.get_client_by_id(clients[root])) then
    clients[root] = M.start(root, config)
  end
  if clients[root] then
    vim.lsp.buf_attach_client(bufnr, clients[root])
  end
end

local function attach_all()
  for _, bufnr in ipairs(vim.api.nvim_list_bufs()) do
    if vim.api.nvim_buf_is_loaded(bufnr) and vim.bo[bufnr].filetype == 'toml' then
      M.attach(bufnr)
    end
  end
end

local function has_died_too_often()
  local now = vim.loop.now()
  deaths = vim.tbl_filter(function(time)
    return now - time < WITHIN
  end, deaths)
  table.insert(deaths, now)
  return #deaths > MOST_RESTARTS
end

--- A server has ended. One that nobody has stopped is started again, unless that has not helped before.
function M.ended(code, signal)
  local is_leaving = vim.v.exiting ~= vim.NIL and vim.v.exiting ~= nil
  if is_leaving or signal == KILLED_ON_PURPOSE or (code == 0 and signal == 0) then
    return
  end
  if has_died_too_often() then
    vim.notify('axe: axe-lsp has died too often; ":edit" in an agent file starts it again', vim.log.levels.ERROR)
  else
    vim.notify('axe: axe-lsp has died and is started again', vim.log.levels.WARN)
    attach_all()
  end
end

return M

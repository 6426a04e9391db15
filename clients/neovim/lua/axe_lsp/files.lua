-- Which files are agents, and which project they belong to.

local M = {}

local function config_home()
  return vim.env.XDG_CONFIG_HOME or vim.fn.expand('~/.config')
end

--- The repository around a folder, if there is one. In a worktree .git is a file.
local function repository(folder)
  local upwards = vim.fn.escape(folder, ' ,;') .. ';'
  local marker = vim.fn.finddir('.git', upwards)
  if marker == '' then
    marker = vim.fn.findfile('.git', upwards)
  end
  if marker ~= '' then
    return vim.fn.fnamemodify(vim.fn.fnamemodify(marker, ':p'):gsub('/$', ''), ':h')
  end
end

--- The project around a folder: its repository, else the folder itself.
function M.project(folder)
  return repository(folder) or folder
end

--- Whether a file is an agent by its place.
function M.is_agent(path)
  return path:gsub('\\', '/'):match('/%.?axe/agents/[^/]+%.toml$') ~= nil
end

--- The project of an agent file: its repository, else the folder above axe/agents; nil for any other file.
--- config.toml belongs to the user's own agents. No server is started for a skill, but one that runs tells
--- which agents use it.
function M.root(path)
  if path:match('[/\\]SKILL%.md$') then
    local client = vim.lsp.get_clients({ name = 'axe_lsp' })[1]
    return client and client.config.root_dir
  end
  if path:gsub('\\', '/') == config_home() .. '/axe/config.toml' then
    return config_home() .. '/axe'
  end
  local folder = path:gsub('\\', '/'):match('^(.*)/%.?axe/agents/[^/]+%.toml$')
  if folder == config_home() then
    return folder .. '/axe' -- the user's own agents; the rest of that folder is other programs'
  end
  return folder and (repository(folder) or folder)
end

return M

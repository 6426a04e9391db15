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

-- Where agents lie, as the server's table of dialects has it. `layer` is the folder of another program, in which
-- its settings are, too. Tests are served like settings.
local AGENTS = {
  { path = '%.?axe/agents/[^/]+' },
  { path = '%.codex/agents/.+', layer = '.codex' },
  { path = '%.vibe/agents/[^/]+', layer = '.vibe' },
}
local SETTINGS = {
  { path = '%.?axe/tests/[^/]+' },
  { path = '%.codex/config', layer = '.codex' },
  { path = '%.vibe/config', layer = '.vibe' },
  { path = '%.gemini/commands/.+', layer = '.gemini' },
}
-- Agents in Markdown, which keep their filetype.
local MARKDOWN = {
  { path = '%.claude/agents/.+', layer = '.claude' },
  { path = '%.github/agents/.+', layer = '.github' },
  { path = '%.opencode/agents?/.+', layer = '.opencode' },
  { path = '%.opencode/modes?/.+', layer = '.opencode' },
  { path = '%.opencode/commands?/.+', layer = '.opencode' },
  { path = '%.gemini/agents/[^/]+', layer = '.gemini' },
  { path = '%.cursor/agents/[^/]+', layer = '.cursor' },
  { path = '%.kiro/agents/[^/]+', layer = '.kiro' },
  -- The user's own, in folders of other names.
  { path = '%.copilot/agents/.+', layer = '.copilot' },
  { path = '%.config/opencode/agents?/.+', layer = '.config/opencode' },
  { path = '%.config/opencode/modes?/.+', layer = '.config/opencode' },
  { path = '%.config/opencode/commands?/.+', layer = '.config/opencode' },
}

--- The folder above axe/agents and the like, and the layer if there is one.
local function above(path, places, ending)
  for _, place in ipairs(places) do
    local folder = path:gsub('\\', '/'):match('^(.-)/' .. place.path .. (ending or '%.toml$'))
    if folder then
      return folder, place.layer
    end
  end
end

--- Whether a file is an agent by its place.
function M.is_agent(path)
  return above(path, AGENTS) ~= nil
end

--- The project of an agent file or of settings: its repository, else the folder above axe/agents and the like;
--- nil for any other file. What is the user's own is no project. No server is started for a skill, but one that runs tells
--- which agents use it.
function M.root(path)
  if path:match('[/\\]SKILL%.md$') then
    local client = vim.lsp.get_clients({ name = 'axe_lsp' })[1]
    return client and client.config.root_dir
  end
  if path:gsub('\\', '/') == config_home() .. '/axe/config.toml' then
    return config_home() .. '/axe'
  end
  local folder, layer = above(path, AGENTS)
  if not folder then
    folder, layer = above(path, SETTINGS)
  end
  if not folder then
    folder, layer = above(path, MARKDOWN, '%.md$')
  end
  -- The user's own agents; the rest of these folders is other programs'.
  if not layer and folder == config_home() then
    return folder .. '/axe'
  elseif layer and folder == vim.fn.expand('~') then
    return folder .. '/' .. layer
  end
  return folder and (repository(folder) or folder)
end

return M

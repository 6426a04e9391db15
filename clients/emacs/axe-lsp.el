;;; axe-lsp.el --- Check and run AI agents defined in TOML and Markdown  -*- lexical-binding: t; -*-

;; Version: 0.1.0
;; Package-Requires: ((emacs "28.1") (eglot "1.9"))
;; Keywords: languages, tools
;; SPDX-License-Identifier: MIT

;;; Commentary:

;; Agent files are checked as you type, through Eglot or lsp-mode and the
;; language server `axe-lsp'.  `axe-run' runs the agent of a buffer and
;; shows each turn, tool call and sub-agent as it happens; `axe-stop',
;; `axe-preview' and `axe-runs' do what they say.  An agent that wants to
;; change something asks first.
;;
;; To start the server with every agent file:
;;
;;     (require 'axe-lsp)
;;     (add-hook 'axe-agent-mode-hook #'eglot-ensure) ; or #'lsp-deferred

;;; Code:

(require 'axe-lsp-eglot)
(require 'axe-lsp-runs)
(require 'axe-lsp-test)
(require 'conf-mode)

(defgroup axe-lsp nil
  "AI agents defined in TOML and Markdown."
  :group 'tools
  :prefix "axe-")

(defcustom axe-lsp-command '("axe-lsp" "--stdio")
  "The program that checks and runs agents, with its arguments."
  :type '(repeat string))

(defcustom axe-lsp-trusted t
  "Whether agents may be run, which can read and change files and run commands.
If nil they are checked and previewed only.  The value at the start of a
server applies to the whole project.  You can set it in .dir-locals.el."
  :type 'boolean
  :safe #'null)

(defun axe-lsp-options ()
  "Return the options of a new server: nil, or a plist."
  (unless axe-lsp-trusted '(:trusted :json-false)))

(defun axe-lsp-contact ()
  "Return the command of the server; an error where it is not installed."
  (unless (executable-find (car axe-lsp-command) t)
    (user-error
     "Agent files are not checked: `%s' is not installed; install it, or set `axe-lsp-command'"
     (car axe-lsp-command)))
  axe-lsp-command)

(defvar axe-agent-mode-map
  (let ((map (make-sparse-keymap)))
    (define-key map (kbd "C-c C-c") #'axe-run)
    (define-key map (kbd "C-c C-a") #'axe-answer)
    (define-key map (kbd "C-c C-k") #'axe-stop)
    (define-key map (kbd "C-c C-p") #'axe-preview)
    (define-key map (kbd "C-c C-r") #'axe-runs)
    (define-key map (kbd "C-c C-t") #'axe-test)
    map)
  "Keys of `axe-agent-mode'.")

;;;###autoload
(define-derived-mode axe-agent-mode conf-toml-mode "Axe"
  "Major mode for AI agents defined in TOML.

\\{axe-agent-mode-map}")

(put 'axe-agent-mode 'eglot-language-id "axe-agent")

;; Agents in Markdown keep the mode of Markdown, if it is installed.
(defalias 'axe--markdown-parent-mode
  (if (locate-library "markdown-mode") 'markdown-mode 'text-mode))

;;;###autoload
(define-derived-mode axe-markdown-agent-mode axe--markdown-parent-mode "Axe"
  "Major mode for AI agents defined in Markdown.

\\{axe-markdown-agent-mode-map}")

(put 'axe-markdown-agent-mode 'eglot-language-id "markdown")

;;;###autoload
(add-to-list 'auto-mode-alist '("/\\.?axe/\\(?:agents\\|tests\\)/[^/]+\\.toml\\'" . axe-agent-mode))
;;;###autoload
(add-to-list 'auto-mode-alist '("/\\.codex/\\(?:agents/.+\\|config\\)\\.toml\\'" . axe-agent-mode))
;;;###autoload
(add-to-list 'auto-mode-alist '("/\\.vibe/\\(?:agents/[^/]+\\|config\\)\\.toml\\'" . axe-agent-mode))
;;;###autoload
(add-to-list 'auto-mode-alist '("/\\.gemini/commands/.+\\.toml\\'" . axe-agent-mode))
;;;###autoload
(add-to-list 'auto-mode-alist '("/\\.\\(?:claude/agents\\|github/agents\\|copilot/agents\\|\\(?:config/\\)?opencode/\\(?:agents?\\|modes?\\|commands?\\)\\)/.+\\.md\\'" . axe-markdown-agent-mode))
;;;###autoload
(add-to-list 'auto-mode-alist '("/\\.\\(?:cursor\\|gemini\\|kiro\\)/agents/[^/]+\\.md\\'" . axe-markdown-agent-mode))
;;;###autoload
(add-to-list 'auto-mode-alist '("/\\.config/axe/config\\.toml\\'" . axe-agent-mode))

(with-eval-after-load 'lsp-mode
  (require 'axe-lsp-lsp-mode))

(provide 'axe-lsp)
;;; axe-lsp.el ends here

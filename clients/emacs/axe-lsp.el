;;; axe-lsp.el --- Check and run AI agents defined in TOML  -*- lexical-binding: t; -*-

;; Version: 0.1.0
;; Package-Requires: ((emacs "28.1") (eglot "1.9"))
;; Keywords: languages, tools
;; SPDX-License-Identifier: MIT

;;; Commentary:

;; Agent files are checked as you type, through Eglot and the language
;; server `axe-lsp'.  `axe-run' runs the agent of a buffer and shows each
;; turn, tool call and sub-agent as it happens; `axe-stop' and
;; `axe-preview' do what they say.  An agent that wants to change
;; something asks first.
;;
;; To start the server with every agent file:
;;
;;     (require 'axe-lsp)
;;     (add-hook 'axe-agent-mode-hook #'eglot-ensure)

;;; Code:

(require 'axe-lsp-approve)
(require 'axe-lsp-log)
(require 'cl-lib)
(require 'conf-mode)
(require 'eglot)
(require 'project)

(defgroup axe-lsp nil
  "AI agents defined in TOML."
  :group 'tools
  :prefix "axe-")

(defcustom axe-lsp-command '("axe-lsp" "--stdio")
  "The program that checks and runs agents, with its arguments."
  :type '(repeat string))


;;; Which files are agents, and which project they belong to

(defvar axe-agent-mode-map
  (let ((map (make-sparse-keymap)))
    (define-key map (kbd "C-c C-c") #'axe-run)
    (define-key map (kbd "C-c C-k") #'axe-stop)
    (define-key map (kbd "C-c C-p") #'axe-preview)
    map)
  "Keys of `axe-agent-mode'.")

;;;###autoload
(define-derived-mode axe-agent-mode conf-toml-mode "Axe"
  "Major mode for AI agents defined in TOML.")

(put 'axe-agent-mode 'eglot-language-id "axe-agent")

;;;###autoload
(add-to-list 'auto-mode-alist '("/\\.?axe/agents/[^/]+\\.toml\\'" . axe-agent-mode))
;;;###autoload
(add-to-list 'auto-mode-alist '("/\\.config/axe/config\\.toml\\'" . axe-agent-mode))

(defun axe-lsp--project (directory)
  "Where DIRECTORY is a folder of agents, the project around it.
Only Eglot is told so, and only where nothing else makes a project."
  (when (and (bound-and-true-p eglot-lsp-context)
             (string-match "\\`\\(.*/\\)\\.?axe/agents/?\\'" directory))
    (let ((around (match-string 1 directory))
          (configuration (or (getenv "XDG_CONFIG_HOME") "~/.config")))
      ;; The rest of that folder is other programs'.
      (cons 'transient
            (if (file-equal-p around configuration) (concat around "axe/") around)))))

(add-hook 'project-find-functions #'axe-lsp--project t)


;;; The server

(defclass axe-lsp-server (eglot-lsp-server) ()
  :documentation "A server that checks agents and runs them.")

(add-to-list 'eglot-server-programs '(axe-agent-mode . axe-lsp--contact))

(defun axe-lsp--contact (&rest _)
  "Tell Eglot what to start."
  (unless (executable-find (car axe-lsp-command) t)
    (user-error
     "Agent files are not checked: `%s' is not installed; install it, or set `axe-lsp-command'"
     (car axe-lsp-command)))
  (cons 'axe-lsp-server axe-lsp-command))

(cl-defmethod eglot-client-capabilities ((_server axe-lsp-server))
  "What Eglot can do, and that SERVER may ask for approval."
  (plist-put (copy-sequence (cl-call-next-method)) :experimental '(:axe (:approve t))))

(cl-defmethod eglot-handle-notification
  ((server axe-lsp-server) (_method (eql 'axe/agent)) &rest event)
  "Show EVENT: the begin or end of an agent of SERVER."
  (axe-lsp--follow server event)
  (axe-lsp-log-event 'axe/agent event))

(cl-defmethod eglot-handle-notification
  ((_server axe-lsp-server) (_method (eql 'axe/turn)) &rest event)
  "Show EVENT: a turn begins or ends."
  (axe-lsp-log-event 'axe/turn event))

(cl-defmethod eglot-handle-notification
  ((_server axe-lsp-server) (_method (eql 'axe/text)) &rest event)
  "Show EVENT: a piece of an answer."
  (axe-lsp-log-event 'axe/text event))

(cl-defmethod eglot-handle-notification
  ((_server axe-lsp-server) (_method (eql 'axe/tool)) &rest event)
  "Show EVENT: a tool call begins or ends."
  (axe-lsp-log-event 'axe/tool event))

(cl-defmethod eglot-handle-request
  ((_server axe-lsp-server) (_method (eql 'axe/approve)) &rest question)
  "Have the user answer QUESTION later.
A prompt must not hold up what else the server says."
  (axe-lsp-question-create question))

(cl-defmethod jsonrpc-connection-send ((server axe-lsp-server) &rest message)
  "Send MESSAGE to SERVER, but not before the user has given the answer in it."
  (if (axe-lsp-question-p (plist-get message :result))
      (axe-lsp-approve-later server message)
    (cl-call-next-method)))

(cl-defmethod eglot-handle-notification
  ((server axe-lsp-server) (_method (eql '$/cancelRequest)) &key id)
  "SERVER needs no answer to its question ID any more."
  (axe-lsp-approve-withdraw server id))


;;; Runs

(defvar axe-lsp--active nil
  "The runs under way and their children, the newest first.
Each is a list of its server and of the event that it began with.")

(defun axe-lsp--follow (server event)
  "Keep in mind what is under way on SERVER; EVENT is a begin or an end."
  (if (equal (plist-get event :kind) "begin")
      (push (list server event) axe-lsp--active)
    (setq axe-lsp--active
          (cl-remove (plist-get event :runId) axe-lsp--active
                     :key (lambda (run) (plist-get (cadr run) :runId)) :test #'equal))))

(defun axe-lsp--lose (server)
  "Show what SERVER was making as killed, children first; it has died."
  (pcase-dolist (`(,its-server ,begun) axe-lsp--active)
    (when (eq its-server server)
      (axe-lsp-log-lost begun)))
  (setq axe-lsp--active (cl-remove server axe-lsp--active :key #'car)))

(defun axe-lsp--request (method params on-result)
  "Send METHOD with PARAMS to the server of this buffer.
ON-RESULT is called with the result; an error is shown to the user."
  (let ((server (eglot-current-server)))
    (unless (cl-typep server 'axe-lsp-server)
      (user-error "No axe-lsp checks this buffer; `M-x eglot' in an agent file starts one"))
    ;; Eglot would keep back for a moment what has been typed last.
    (eglot--signal-textDocument/didChange)
    (jsonrpc-async-request
     server method params
     :timeout nil ; A run may take hours.
     :success-fn on-result
     :error-fn (lambda (failure) (axe-lsp--failed server failure)))))

(defun axe-lsp--failed (server failure)
  "A request was answered with FAILURE, or SERVER will never answer it."
  (pcase (plist-get failure :code)
    (-1 (axe-lsp--lose server))
    (-32800 nil) ; The user has stopped it.
    (_ (message "axe: %s" (plist-get failure :message)))))

(defun axe-lsp--params (&rest more)
  "Params that name the agent of this buffer, and MORE."
  (append (eglot--TextDocumentIdentifier) more))

;;;###autoload
(defun axe-run (task)
  "Run the agent of this buffer, saved or not, and show what it does.
TASK is what it is told to do; if it is empty, the agent works on its own
instructions."
  (interactive "sTask (empty: its own instructions): ")
  (axe-lsp--request :axe/run
                    (if (equal task "") (axe-lsp--params) (axe-lsp--params :task task))
                    #'ignore)
  (display-buffer (axe-lsp-log-buffer)))

;;;###autoload
(defun axe-preview ()
  "Show what a run of this buffer's agent would send, and send nothing."
  (interactive)
  (axe-lsp--request :axe/preview (axe-lsp--params) #'axe-lsp--show-preview))

(defun axe-lsp--show-preview (preview)
  "Show the text of PREVIEW."
  (with-current-buffer (get-buffer-create "*axe preview*")
    (let ((inhibit-read-only t))
      (erase-buffer)
      (insert (plist-get preview :text)))
    (goto-char (point-min))
    (special-mode)
    (display-buffer (current-buffer))))

;;;###autoload
(defun axe-stop ()
  "Stop the run that is under way, or the one that the user picks."
  (interactive)
  (let ((roots (cl-remove-if (lambda (run) (plist-get (cadr run) :parentRunId)) axe-lsp--active)))
    (pcase-let ((`(,server ,begun) (if (cdr roots) (axe-lsp--pick roots) (car roots))))
      (unless server
        (user-error "No agent is running"))
      (jsonrpc-async-request server :axe/stop (list :runId (plist-get begun :runId))
                             :success-fn #'ignore))))

(defun axe-lsp--pick (roots)
  "Let the user choose one of ROOTS."
  (let ((choices (mapcar (lambda (run) (cons (axe-lsp--describe (cadr run)) run)) roots)))
    (cdr (assoc (completing-read "Which run? " choices nil t) choices))))

(defun axe-lsp--describe (begun)
  "Describe the run of the event BEGUN as no other run is described."
  (let ((task (plist-get begun :task)))
    (format "%s%s (%s)" (plist-get begun :agent)
            (if (equal task "") "" (concat ": " (axe-lsp-log-shorten task)))
            (substring (plist-get begun :runId) 0 6))))

(define-key axe-runs-mode-map "s" #'axe-stop)

(provide 'axe-lsp)
;;; axe-lsp.el ends here

;;; axe-lsp-eglot.el --- Check and run agents through Eglot  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; The server of Eglot that checks agents and runs them.

;;; Code:

(require 'axe-lsp-code)
(require 'axe-lsp-runs)
(require 'axe-lsp-words)
(require 'eglot)
(require 'project)

(declare-function axe-lsp-contact "axe-lsp" ())
(declare-function axe-lsp-options "axe-lsp" ())

(defclass axe-lsp-server (eglot-lsp-server) ()
  :documentation "A server that checks agents and runs them.")

(add-to-list 'eglot-server-programs
             '((axe-agent-mode axe-markdown-agent-mode) . axe-lsp-eglot--contact))

(defun axe-lsp-eglot--contact (&rest _)
  "Tell Eglot what to start."
  (append '(axe-lsp-server)
          (axe-lsp-contact)
          (when-let ((options (axe-lsp-options)))
            (list :initializationOptions options))))

(defun axe-lsp-eglot--project (directory)
  "The project around DIRECTORY, if that has agents or their settings.
Eglot alone uses it, and only where nothing else makes a project."
  (when (and (bound-and-true-p eglot-lsp-context)
             (string-match "\\`\\(.*?/\\)\\(?:\\.?axe/\\(?:agents\\|tests\\)/?\\'\\|\\(\\.\\(?:codex\\|vibe\\|claude\\|github\\|copilot\\|\\(?:config/\\)?opencode\\|gemini\\|cursor\\|kiro\\)/\\)\\(?:agents?/\\|modes?/\\|commands?/\\|\\'\\)\\)" directory))
    (let ((around (match-string 1 directory))
          (layer (match-string 2 directory))
          (configuration (or (getenv "XDG_CONFIG_HOME") "~/.config")))
      ;; The rest of the user's own folders is other programs'.
      (cons 'transient
            (cond ((and layer (file-equal-p around "~")) (concat around layer))
                  ((and (not layer) (file-equal-p around configuration)) (concat around "axe/"))
                  (t around))))))

(add-hook 'project-find-functions #'axe-lsp-eglot--project t)

(defun axe-lsp-eglot--server (only-own)
  "The server of this buffer; any other one unless ONLY-OWN."
  (let ((is-ours (lambda (server) (cl-typep server 'axe-lsp-server)))
        (own (eglot-current-server)))
    (cond ((funcall is-ours own) own)
          ((not only-own)
           (cl-find-if is-ours (apply #'append (hash-table-values eglot--servers-by-project)))))))

(add-hook 'axe-lsp-server-functions #'axe-lsp-eglot--server)

(cl-defmethod axe-lsp-send ((server axe-lsp-server) method params on-result)
  "Send METHOD with PARAMS to SERVER; ON-RESULT gets the result."
  ;; Eglot would keep back for a moment what has been typed last.
  (when (eglot-current-server)
    (eglot--signal-textDocument/didChange))
  (jsonrpc-async-request
   server (intern (concat ":" method)) (or params eglot--{})
   :timeout nil ; A run may take hours.
   :success-fn (lambda (result) (funcall on-result (axe-lsp-words-visible result)))
   :error-fn (lambda (failure)
               (if (equal (plist-get failure :code) -1)
                   (axe-lsp-runs-lose server) ; It will never answer.
                 (axe-lsp-runs-failed (plist-get failure :code) (plist-get failure :message))))))

(cl-defmethod eglot-client-capabilities ((_server axe-lsp-server))
  "The capabilities of Eglot, with renames of files, which SERVER may ask for."
  (let* ((all (copy-sequence (cl-call-next-method)))
         (workspace (copy-sequence (plist-get all :workspace)))
         (edit (append '(:resourceOperations ["rename"]) (plist-get workspace :workspaceEdit))))
    (setq workspace (plist-put workspace :workspaceEdit edit)
          all (plist-put all :workspace workspace))
    (plist-put all :experimental '(:axe (:approve t :ask t :editor t)))))

(defun axe-lsp-eglot--settings (settings-of server &rest more)
  "Get the settings of SERVER from SETTINGS-OF with MORE.
Those of axe-lsp are read without those of the project: Emacs takes
`eglot-workspace-configuration' from .dir-locals.el without a question,
so that a repository could allow commands."
  (if (not (cl-typep server 'axe-lsp-server))
      (apply settings-of server more)
    (with-temp-buffer
      (let ((enable-dir-local-variables nil))
        (apply settings-of server more)))))

(advice-add 'eglot--workspace-configuration-plist :around #'axe-lsp-eglot--settings)

(defun axe-lsp-eglot--apply (apply-edit edit &rest more)
  "Have APPLY-EDIT apply EDIT with MORE, and then rename files, which Eglot can't."
  (let* ((is-move (lambda (step) (equal (plist-get step :kind) "rename")))
         (steps (append (plist-get edit :documentChanges) nil))
         (moves (cl-remove-if-not is-move steps)))
    (apply apply-edit
           (if moves
               (list :documentChanges (vconcat (cl-remove-if is-move steps)))
             edit)
           more)
    (dolist (move moves)
      (axe-lsp-eglot--move (axe-lsp-runs-path (plist-get move :oldUri))
                           (axe-lsp-runs-path (plist-get move :newUri))))))

(advice-add 'eglot--apply-workspace-edit :around #'axe-lsp-eglot--apply)

(defun axe-lsp-eglot--move (old new)
  "Rename the file OLD to NEW; where it was visited, visit NEW."
  (let* ((buffer (find-buffer-visiting old))
         (windows (and buffer (get-buffer-window-list buffer nil t))))
    (when buffer
      (with-current-buffer buffer
        (save-buffer))
      (kill-buffer buffer))
    (rename-file old new)
    (when buffer
      (let ((moved (find-file-noselect new)))
        (dolist (window windows)
          (set-window-buffer window moved))))))

(cl-defmethod eglot-handle-notification
  ((server axe-lsp-server) (_method (eql 'axe/agent)) &rest event)
  "Show EVENT: the begin or end of an agent of SERVER."
  (axe-lsp-runs-tell server 'axe/agent event))

(cl-defmethod eglot-handle-notification
  ((server axe-lsp-server) (_method (eql 'axe/turn)) &rest event)
  "Show EVENT: a turn begins or ends on SERVER."
  (axe-lsp-runs-tell server 'axe/turn event))

(cl-defmethod eglot-handle-notification
  ((server axe-lsp-server) (_method (eql 'axe/text)) &rest event)
  "Show EVENT: a piece of an answer on SERVER."
  (axe-lsp-runs-tell server 'axe/text event))

(cl-defmethod eglot-handle-notification
  ((server axe-lsp-server) (_method (eql 'axe/thought)) &rest event)
  "Show EVENT: a piece of what a model thinks on SERVER."
  (axe-lsp-runs-tell server 'axe/thought event))

(cl-defmethod eglot-handle-notification
  ((server axe-lsp-server) (_method (eql 'axe/place)) &rest event)
  "Show EVENT: where the tools of an agent in a copy work on SERVER."
  (axe-lsp-runs-tell server 'axe/place event))

(cl-defmethod eglot-handle-notification
  ((server axe-lsp-server) (_method (eql 'axe/wait)) &rest event)
  "Show EVENT: a request waits for its provider on SERVER."
  (axe-lsp-runs-tell server 'axe/wait event))

(cl-defmethod eglot-handle-notification
  ((server axe-lsp-server) (_method (eql 'axe/context)) &rest event)
  "Show EVENT: a request is made shorter on SERVER."
  (axe-lsp-runs-tell server 'axe/context event))

(cl-defmethod eglot-handle-notification
  ((server axe-lsp-server) (_method (eql 'axe/message)) &rest event)
  "Show EVENT: a message to a run on SERVER waits or is given."
  (axe-lsp-runs-tell server 'axe/message event))

(cl-defmethod eglot-handle-notification
  ((server axe-lsp-server) (_method (eql 'axe/tool)) &rest event)
  "Show EVENT: a tool call begins or ends on SERVER."
  (axe-lsp-runs-tell server 'axe/tool event))

(cl-defmethod eglot-handle-request
  ((_server axe-lsp-server) (_method (eql 'axe/approve)) &rest question)
  "Have the user answer QUESTION later.
A prompt must not hold up what else the server says."
  (axe-lsp-question-create question))

(cl-defmethod eglot-handle-request
  ((_server axe-lsp-server) (_method (eql 'axe/ask)) &rest question)
  "Have the user answer QUESTION of a model later, as above."
  (axe-lsp-question-create question))

(cl-defmethod eglot-handle-request
  ((_server axe-lsp-server) (_method (eql 'axe/editor)) &rest question)
  "Have language servers answer QUESTION later, as above."
  (axe-lsp-code-question-create question))

(cl-defmethod jsonrpc-connection-send ((server axe-lsp-server) &rest message)
  "Send MESSAGE to SERVER, but not before there is the answer in it."
  (let* ((question (plist-get message :result))
         (send (lambda (answer)
                 (when (jsonrpc-running-p server)
                   (apply #'jsonrpc-connection-send server
                          (plist-put (copy-sequence message) :result answer))))))
    (cond ((axe-lsp-question-p question)
           (setf (axe-lsp-question-key question) (cons server (plist-get message :id))
                 (axe-lsp-question-answer question) send)
           (axe-lsp-approve-later question))
          ((axe-lsp-code-question-p question)
           (run-at-time 0 nil #'axe-lsp-code-answer question send))
          (t (cl-call-next-method)))))

(cl-defmethod eglot-handle-notification
  ((server axe-lsp-server) (_method (eql '$/cancelRequest)) &key id)
  "SERVER needs no answer to its question ID any more."
  (axe-lsp-approve-withdraw (cons server id)))

(provide 'axe-lsp-eglot)
;;; axe-lsp-eglot.el ends here

;;; axe-lsp-lsp-mode.el --- Check and run agents through lsp-mode  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; The client of lsp-mode for the server that checks agents and runs them.
;; Loaded with lsp-mode, never before.

;;; Code:

(require 'axe-lsp-runs)
(require 'axe-lsp-words)
(require 'lsp-mode nil t)
(require 'subr-x)

(declare-function axe-lsp-contact "axe-lsp" ())
(declare-function axe-lsp-options "axe-lsp" ())
(declare-function lsp--client-server-id "ext:lsp-mode" (client))
(declare-function lsp--session-workspaces "ext:lsp-mode" (session))
(declare-function lsp--workspace-client "ext:lsp-mode" (workspace))
(declare-function lsp--workspace-status "ext:lsp-mode" (workspace))
(declare-function lsp-activate-on "ext:lsp-mode" (&rest languages))
(declare-function lsp-register-client "ext:lsp-mode" (client))
(declare-function lsp-request-async "ext:lsp-mode" (method params callback &rest more))
(declare-function lsp-session "ext:lsp-mode" ())
(declare-function lsp-stdio-connection "ext:lsp-mode" (command &optional test))
(declare-function lsp-workspaces "ext:lsp-mode" ())
(declare-function make-lsp-client "ext:lsp-mode" (&rest members))
(defvar lsp--cur-workspace)
(defvar lsp-after-uninitialized-functions)
(defvar lsp-language-id-configuration)

(cl-defstruct axe-lsp-workspace
  "A server, for which there is a WORKSPACE in the other package."
  workspace)

(defun axe-lsp-workspace--plist (value)
  "VALUE with plists for objects, and vectors for arrays.
It may have hash tables or plists, and lists, as the other package likes."
  (cond ((hash-table-p value)
         (let (plist)
           (maphash (lambda (name each)
                      (setq plist (cons (axe-lsp-workspace--plist each)
                                        (cons (intern (concat ":" name)) plist))))
                    value)
           (nreverse plist)))
        ((keywordp (car-safe value)) (mapcar #'axe-lsp-workspace--plist value))
        ((or (vectorp value) (consp value)) (vconcat (mapcar #'axe-lsp-workspace--plist value)))
        (t value)))

(defun axe-lsp-workspace--server (only-own)
  "The server of this buffer; any other one unless ONLY-OWN."
  (let ((is-ours (lambda (workspace)
                   (and (eq (lsp--client-server-id (lsp--workspace-client workspace)) 'axe-lsp)
                        (eq (lsp--workspace-status workspace) 'initialized)))))
    (when-let ((workspace (or (cl-find-if is-ours (lsp-workspaces))
                              (and (not only-own)
                                   (cl-find-if is-ours (lsp--session-workspaces (lsp-session)))))))
      (axe-lsp-workspace--wrap workspace))))

(defvar axe-lsp-workspace--known nil
  "The servers that were met: (WORKSPACE . SERVER).")

(defun axe-lsp-workspace--wrap (workspace)
  "Return the server that stands for WORKSPACE, always the same one."
  (or (alist-get workspace axe-lsp-workspace--known)
      (setf (alist-get workspace axe-lsp-workspace--known)
            (make-axe-lsp-workspace :workspace workspace))))

(cl-defmethod axe-lsp-send ((server axe-lsp-workspace) method params on-result)
  "Send METHOD with PARAMS to SERVER; ON-RESULT gets the result."
  (let ((lsp--cur-workspace (axe-lsp-workspace-workspace server)))
    (lsp-request-async
     method (or params (make-hash-table))
     (lambda (result) (funcall on-result (axe-lsp-words-visible (axe-lsp-workspace--plist result))))
     :mode 'detached
     :error-handler (lambda (failure)
                      (let ((failure (axe-lsp-workspace--plist failure)))
                        (axe-lsp-runs-failed (plist-get failure :code)
                                             (plist-get failure :message)))))))

(defun axe-lsp-workspace--teller (method)
  "The handler of the notification METHOD, a symbol."
  (lambda (workspace event)
    (axe-lsp-runs-tell (axe-lsp-workspace--wrap workspace) method
                       (axe-lsp-workspace--plist event))))

(defun axe-lsp-workspace--ask (_workspace params answer)
  "Have the user answer the question in PARAMS later, by calling ANSWER."
  (let ((params (axe-lsp-workspace--plist params)))
    (axe-lsp-approve-later
     (axe-lsp-question-create params answer (plist-get params :rootRunId)))))

(defun axe-lsp-workspace--lose (workspace)
  "The server of WORKSPACE has ended."
  (when-let ((server (alist-get workspace axe-lsp-workspace--known)))
    (axe-lsp-runs-lose server)
    (setf (alist-get workspace axe-lsp-workspace--known nil t) nil)))

(defun axe-lsp-workspace--handlers (&rest handlers)
  "A table of HANDLERS: names and functions in turn."
  (let ((table (make-hash-table :test 'equal)))
    (while handlers
      (puthash (pop handlers) (pop handlers) table))
    table))

(with-eval-after-load 'lsp-mode
  (add-to-list 'lsp-language-id-configuration '(axe-agent-mode . "axe-agent"))
  (add-to-list 'lsp-language-id-configuration '(axe-markdown-agent-mode . "axe-markdown-agent"))
  (add-hook 'lsp-after-uninitialized-functions #'axe-lsp-workspace--lose)
  (add-hook 'axe-lsp-server-functions #'axe-lsp-workspace--server)
  (lsp-register-client
   (make-lsp-client
    :server-id 'axe-lsp
    :new-connection (lsp-stdio-connection #'axe-lsp-contact)
    :activation-fn (lsp-activate-on "axe-agent" "axe-markdown-agent")
    :initialization-options #'axe-lsp-options
    :custom-capabilities '((experimental . ((axe . ((approve . t) (ask . t)))))
                           ;; Versions before 9 count in characters without saying so.
                           (general . ((positionEncodings . ["utf-32"]))))
    ;; The lenses above an agent; lsp-mode itself would wait for the end of the run.
    :action-handlers
    (axe-lsp-workspace--handlers
     "axe.run" (lambda (_) (call-interactively #'axe-run))
     "axe.preview" (lambda (_) (axe-preview)))
    :notification-handlers
    (axe-lsp-workspace--handlers
     "axe/agent" (axe-lsp-workspace--teller 'axe/agent)
     "axe/turn" (axe-lsp-workspace--teller 'axe/turn)
     "axe/text" (axe-lsp-workspace--teller 'axe/text)
     "axe/thought" (axe-lsp-workspace--teller 'axe/thought)
     "axe/place" (axe-lsp-workspace--teller 'axe/place)
     "axe/wait" (axe-lsp-workspace--teller 'axe/wait)
     "axe/context" (axe-lsp-workspace--teller 'axe/context)
     "axe/message" (axe-lsp-workspace--teller 'axe/message)
     "axe/tool" (axe-lsp-workspace--teller 'axe/tool)
     "$/cancelRequest" #'ignore) ; It has no id of ours; the end of the run says as much.
    :async-request-handlers
    (axe-lsp-workspace--handlers
     "axe/approve" #'axe-lsp-workspace--ask
     "axe/ask" #'axe-lsp-workspace--ask))))

(provide 'axe-lsp-lsp-mode)
;;; axe-lsp-lsp-mode.el ends here

;;; axe-lsp-code.el --- Answer agents from language servers  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; What tools of agents ask about code is answered by the language servers of
;; Eglot.  Diagnostics count if they are known to be about the text that the
;; file has now: the server was asked for them, or has published them with the
;; version of the text, or after it and nothing more for a while.

;;; Code:

(require 'axe-lsp-runs)
(require 'cl-lib)
(require 'eglot)
(require 'project)
(require 'subr-x)

(defconst axe-lsp-code--most-items 300
  "Items of one answer.")

(defconst axe-lsp-code--start-seconds 8
  "Time for a language server that starts, or reads its project.")

(defconst axe-lsp-code--again-seconds 0.3
  "Time between two looks at a language server that starts.")

(defconst axe-lsp-code--quiet-seconds 0.4
  "Time without a publication that makes one complete: servers publish in parts.")

(defconst axe-lsp-code--versioned-quiet-seconds 0.04
  "The same after a publication with the version of the text.")

(defvar axe-lsp-code--servers (make-hash-table :test 'eq :weakness 'key)
  "The state of each server: a plist with `:answered', `:published', `:silent'.")

(defvar axe-lsp-code--opened nil
  "Buffers that were opened for agents: (ROOT-RUN-ID . BUFFER).")

(defvar-local axe-lsp-code--may-start 0
  "The time until which the language server of this buffer may be starting.")

(defvar-local axe-lsp-code--openings 0
  "How often a language server was sent this buffer as a new document.")

(defvar-local axe-lsp-code--published nil
  "The last publication about this buffer.
A plist: `:version' of the text, `:items', and `:quiet-at', when that is all.")

(defvar-local axe-lsp-code--waiting nil
  "Functions to call when something is published about this buffer.")

(put 'axe-lsp-code--openings 'permanent-local t)

(cl-defstruct (axe-lsp-code-question (:constructor axe-lsp-code-question-create (params)))
  "A question of an agent about code, with the PARAMS of axe/editor."
  params)


;;;; Texts

(defun axe-lsp-code--here-p (path)
  "Whether PATH is in a project of a server, or visited by the user."
  (let ((buffer (find-buffer-visiting path)))
    (or (and buffer (not (rassq buffer axe-lsp-code--opened)))
        (cl-some (lambda (server) (file-in-directory-p path (project-root (eglot--project server))))
                 (axe-lsp-code--all-servers)))))

(defun axe-lsp-code--all-servers ()
  "All servers of Eglot, those of agents among them."
  (apply #'append (hash-table-values eglot--servers-by-project)))

(defun axe-lsp-code--open (path root-run-id)
  "Return a buffer with the text that PATH has now, for the run of ROOT-RUN-ID.
Changes that are not saved are kept.  Nothing is shown, and nothing asked."
  (let ((inhibit-message t)
        (buffer (find-buffer-visiting path)))
    (if (null buffer)
        (axe-lsp-code--visit path root-run-id)
      (with-current-buffer buffer
        (unless (or (buffer-modified-p) (verify-visited-file-modtime) (not (file-exists-p path)))
          (revert-buffer t t t)))
      buffer)))

(defun axe-lsp-code--visit (path root-run-id)
  "Visit PATH for the run of ROOT-RUN-ID, without a window.
A server for it is started as for any other file."
  (let* ((before (default-value 'post-command-hook))
         (enable-local-variables :safe)
         (enable-local-eval nil)
         (vc-follow-symlinks nil)
         (buffer (find-file-noselect path t)))
    (push (cons root-run-id buffer) axe-lsp-code--opened)
    (with-current-buffer buffer
      (when (< (float-time) axe-lsp-code--may-start)
        ;; `eglot-ensure' waits for the next command in the buffer.
        (let ((eglot-sync-connect nil))
          (dolist (start (append (and (local-variable-p 'post-command-hook) post-command-hook)
                                 (cl-set-difference (default-value 'post-command-hook) before)))
            (when (functionp start)
              (with-demoted-errors "axe: %S" (funcall start)))))))
    buffer))

(defun axe-lsp-code--note-start ()
  "Remember that the server of this buffer may be starting."
  (setq axe-lsp-code--may-start (+ (float-time) axe-lsp-code--start-seconds)))

(advice-add 'eglot-ensure :before #'axe-lsp-code--note-start)

(defun axe-lsp-code--forget (root-run-id)
  "Kill the buffers for the run of ROOT-RUN-ID that the user has not seen."
  (pcase-dolist (`(,id . ,buffer) axe-lsp-code--opened)
    (when (and (equal id root-run-id) (buffer-live-p buffer)
               (not (buffer-modified-p buffer))
               (not (buffer-local-value 'buffer-display-time buffer)))
      (kill-buffer buffer)))
  (setq axe-lsp-code--opened (cl-remove root-run-id axe-lsp-code--opened :key #'car :test #'equal)))

(add-hook 'axe-lsp-runs-end-functions #'axe-lsp-code--forget)

(defun axe-lsp-code--digest ()
  "The digest of the text of this buffer, as the server of agents has it."
  (let ((text (string-replace "\r\n" "\n" (axe-lsp-code--text))))
    (secure-hash 'sha256 (encode-coding-string (string-remove-prefix "\ufeff" text) 'utf-8-unix))))

(defun axe-lsp-code--text ()
  "All of the text of this buffer."
  (save-restriction
    (widen)
    (buffer-substring-no-properties (point-min) (point-max))))


;;;; Servers

(defun axe-lsp-code--ours-p (server)
  "Whether SERVER is one of agents, which is not asked about code."
  (eq (eieio-object-class-name server) 'axe-lsp-server))

(defun axe-lsp-code--can (server capability)
  "Whether SERVER has CAPABILITY, a keyword."
  (let ((value (plist-get (eglot--capabilities server) capability)))
    (and value (not (eq value :json-false)))))

(defun axe-lsp-code--did (server what)
  "Whether SERVER has done WHAT."
  (plist-get (gethash server axe-lsp-code--servers) what))

(defun axe-lsp-code--note (server what value)
  "Remember VALUE as whether SERVER has done WHAT."
  (puthash server (plist-put (gethash server axe-lsp-code--servers) what value) axe-lsp-code--servers))

(defun axe-lsp-code--with-server (buffer deadline use)
  "Call USE with the server of BUFFER, once it has started, by DEADLINE.
It gets nil if there is none, and `starting' if it needs more time."
  (with-current-buffer buffer
    (let ((server (and (eglot-managed-p) (eglot-current-server)))
          (now (float-time)))
      (cond ((and server (axe-lsp-code--ours-p server)) (funcall use nil))
            (server
             (eglot--signal-textDocument/didChange)
             (funcall use server))
            ((<= axe-lsp-code--may-start now) (funcall use nil))
            ((<= deadline now) (funcall use 'starting))
            (t (run-at-time 0.05 nil #'axe-lsp-code--retry buffer use
                            #'axe-lsp-code--with-server buffer deadline use))))))

(defun axe-lsp-code--retry (buffer use function &rest arguments)
  "Call FUNCTION with ARGUMENTS, or USE with nil if BUFFER is gone."
  (if (buffer-live-p buffer)
      (apply function arguments)
    (funcall use nil)))

(defun axe-lsp-code--ask (server method params deadline use)
  "Send METHOD with PARAMS to SERVER.
USE gets the result, and whether there is an answer before DEADLINE."
  (let ((left (- deadline (float-time)))
        (no-answer (lambda (&rest _) (funcall use nil nil))))
    (if (<= left 0)
        (funcall no-answer)
      (jsonrpc-async-request server method params
                             :success-fn (lambda (result) (funcall use result t))
                             :error-fn no-answer
                             :timeout-fn no-answer
                             :timeout left))))


;;;; Diagnostics

;; A buffer that is read again begins with version 0 once more.
(defun axe-lsp-code--count-opening ()
  "Give this buffer a version that it has never had."
  (setq eglot--versioned-identifier (* 1000000 axe-lsp-code--openings))
  (setq axe-lsp-code--openings (1+ axe-lsp-code--openings)))

(advice-add 'eglot--TextDocumentItem :before #'axe-lsp-code--count-opening)

(cl-defmethod eglot-handle-notification :before
  (server (_method (eql textDocument/publishDiagnostics)) &key uri diagnostics version
          &allow-other-keys)
  "Remember DIAGNOSTICS of SERVER about the VERSION of URI."
  (axe-lsp-code--note server :published t)
  (axe-lsp-code--note server :silent nil)
  (let ((path (abbreviate-file-name (file-truename (axe-lsp-runs-path uri)))))
    (when-let ((buffer (cl-find path (eglot--managed-buffers server)
                                :key (lambda (each) (buffer-local-value 'buffer-file-truename each))
                                :test #'equal)))
      (with-current-buffer buffer
        (when (or version (null eglot--recent-changes)) ; Else it is about a text before this one.
          (setq axe-lsp-code--published
                (list :version (or version eglot--versioned-identifier)
                      :items diagnostics
                      :quiet-at (+ (float-time) (if version
                                                    axe-lsp-code--versioned-quiet-seconds
                                                  axe-lsp-code--quiet-seconds))))
          (mapc #'funcall (copy-sequence axe-lsp-code--waiting)))))))

(defun axe-lsp-code--await-publication (server deadline use)
  "Call USE with what SERVER publishes about this buffer, once that is all.
It gets nil, and nil for whether there is an answer, after DEADLINE."
  (let ((buffer (current-buffer)) timer)
    (cl-labels
        ((look ()
           (when timer (cancel-timer timer))
           (if (not (buffer-live-p buffer))
               (funcall use nil nil)
             (with-current-buffer buffer
               (let* ((now (float-time))
                      (is-current (equal (plist-get axe-lsp-code--published :version)
                                         eglot--versioned-identifier))
                      (quiet-at (and is-current (plist-get axe-lsp-code--published :quiet-at))))
                 (cond ((and quiet-at (<= quiet-at now))
                        (finish (plist-get axe-lsp-code--published :items) t))
                       ((<= deadline now)
                        (unless (axe-lsp-code--did server :published)
                          (axe-lsp-code--note server :silent t))
                        (finish nil nil))
                       (t (setq timer (run-at-time (- (min deadline (or quiet-at deadline)) now)
                                                   nil #'look))))))))
         (finish (items is-answer)
           (setq axe-lsp-code--waiting (delq #'look axe-lsp-code--waiting))
           (funcall use items is-answer)))
      (if (<= deadline (float-time))
          (funcall use nil nil)
        (push #'look axe-lsp-code--waiting)
        (look)))))

(defun axe-lsp-code--diagnostics (buffer digest deadline use)
  "Call USE with an answer about the problems of the text of BUFFER.
If DIGEST is not nil it is that of the text.  A text that is not checked by
DEADLINE gets an answer without `:checked'."
  (with-current-buffer buffer
    (if (and digest (not (equal digest (axe-lsp-code--digest))))
        (funcall use nil)
      (axe-lsp-code--with-server
       buffer deadline
       (lambda (server)
         (cond ((eq server 'starting) (funcall use nil))
               ((or (null server) (axe-lsp-code--did server :silent))
                (funcall use '(:missing "server")))
               (t (axe-lsp-code--check buffer server deadline use))))))))

(defun axe-lsp-code--check (buffer server deadline use)
  "Call USE with an answer about the problems of BUFFER.
SERVER has until DEADLINE for them."
  (with-current-buffer buffer
    (let* ((tick (buffer-chars-modified-tick))
           (digest (axe-lsp-code--digest))
           (finish (lambda (items is-answer)
                     (if (or (not is-answer) (not (buffer-live-p buffer))
                             (/= tick (buffer-chars-modified-tick buffer)))
                         (funcall use nil)
                       (with-current-buffer buffer
                         (funcall use (axe-lsp-code--checked items digest)))))))
      (if (axe-lsp-code--can server :diagnosticProvider)
          (axe-lsp-code--ask server :textDocument/diagnostic
                             (list :textDocument (eglot--TextDocumentIdentifier)) deadline
                             (lambda (report is-answer)
                               (funcall finish (plist-get report :items)
                                        (and is-answer (equal (plist-get report :kind) "full")))))
        (axe-lsp-code--await-publication server deadline finish)))))

(defun axe-lsp-code--checked (diagnostics digest)
  "Return the answer that this buffer, whose text has DIGEST, has DIAGNOSTICS."
  (let ((uri (plist-get (eglot--TextDocumentIdentifier) :uri)))
    (append (axe-lsp-code--limited
             (mapcar (lambda (each) (axe-lsp-code--problem uri each)) diagnostics))
            (list :checked (list (intern (concat ":" uri)) digest)))))

(defun axe-lsp-code--problem (uri diagnostic)
  "Return the item for a DIAGNOSTIC of URI."
  (let ((message (plist-get diagnostic :message))
        (source (string-trim (format "%s %s" (or (plist-get diagnostic :source) "")
                                     (or (plist-get diagnostic :code) "")))))
    (append (list :uri uri
                  :line (1+ (plist-get (plist-get (plist-get diagnostic :range) :start) :line))
                  :message (if (stringp message) message (plist-get message :value))
                  :severity (pcase (plist-get diagnostic :severity)
                              (2 "warning") (3 "information") (4 "hint") (_ "error")))
            (unless (string-empty-p source) (list :source source)))))

(defun axe-lsp-code--diagnostics-of-all (deadline use)
  "Call USE with an answer about all buffers with a language server by DEADLINE."
  (let* ((buffers (cl-remove-if-not
                   #'buffer-file-name
                   (mapcan (lambda (server)
                             (unless (axe-lsp-code--ours-p server)
                               (copy-sequence (eglot--managed-buffers server))))
                           (axe-lsp-code--all-servers))))
         (open (length buffers))
         items checked)
    (if (null buffers)
        (funcall use (list :items []))
      (dolist (buffer buffers)
        (axe-lsp-code--diagnostics
         buffer nil deadline
         (lambda (answer)
           (setq items (append (plist-get answer :items) items)
                 checked (append (plist-get answer :checked) checked)
                 open (1- open))
           (when (zerop open)
             (funcall use (append (axe-lsp-code--limited items)
                                  (when checked (list :checked checked)))))))))))


;;;; Questions about names

(defun axe-lsp-code--limited (items)
  "Return an answer with as many ITEMS as it may have."
  (list :items (vconcat (seq-take items axe-lsp-code--most-items))
        :leftOut (max 0 (- (length items) axe-lsp-code--most-items))))

(defun axe-lsp-code--go-to-name (line name)
  "Go to the first whole word NAME on LINE; nil if there is none."
  (let ((case-fold-search nil))
    (widen)
    (goto-char (point-min))
    (when (and (> line 0) (zerop (forward-line (1- line))) (not (string-empty-p name))
               (re-search-forward (concat "\\(?:^\\|[^[:alnum:]_]\\)\\(" (regexp-quote name)
                                          "\\)\\(?:[^[:alnum:]_]\\|$\\)")
                                  (line-end-position) t))
      (goto-char (match-beginning 1)))))

(defun axe-lsp-code--place (uri range &rest more)
  "Return the item for RANGE of URI, with MORE, and its line if it is visited."
  (let* ((line (plist-get (plist-get range :start) :line))
         (buffer (get-file-buffer (axe-lsp-runs-path uri)))
         (text (when buffer
                 (with-current-buffer buffer
                   (save-excursion
                     (save-restriction
                       (widen)
                       (goto-char (point-min))
                       (when (zerop (forward-line line))
                         (string-trim (buffer-substring-no-properties
                                       (point) (line-end-position))))))))))
    (append (list :uri uri :line (1+ line)) (when text (list :text text)) more)))

(defun axe-lsp-code--places (result)
  "Return the items for RESULT: a location, or a vector of locations or links."
  (mapcar (lambda (each)
            (axe-lsp-code--place (or (plist-get each :targetUri) (plist-get each :uri))
                                 (or (plist-get each :targetSelectionRange) (plist-get each :range))))
          (if (vectorp result) result (list result))))

(defun axe-lsp-code--symbols (result uri)
  "Return the items for RESULT, symbols of URI, or of other files if they say so."
  (mapcan (lambda (symbol)
            (let* ((location (plist-get symbol :location))
                   (range (or (plist-get location :range) (plist-get symbol :selectionRange)
                              '(:start (:line 0)))))
              (cons (axe-lsp-code--place
                     (or (plist-get location :uri) uri) range
                     :name (plist-get symbol :name)
                     :kind (downcase (alist-get (plist-get symbol :kind) eglot--symbol-kind-names "symbol")))
                    (axe-lsp-code--symbols (plist-get symbol :children) uri))))
          (append result nil)))

(defun axe-lsp-code--hover (result)
  "Return the item for RESULT, a hover."
  (let* ((contents (plist-get result :contents))
         (parts (if (vectorp contents) (append contents nil) (list contents))))
    (list (list :message (mapconcat (lambda (part) (if (stringp part) part (plist-get part :value)))
                                    parts "\n\n")))))

(defun axe-lsp-code--calls (server question items deadline use)
  "Call USE with places for ITEMS of the call hierarchy of SERVER.
QUESTION is incomingCalls or outgoingCalls; DEADLINE is for all."
  (if (null items)
      (funcall use nil)
    (axe-lsp-code--ask
     server (intern (concat ":callHierarchy/" question)) (list :item (car items)) deadline
     (lambda (result _)
       (let ((calls (mapcan
                     (lambda (call)
                       (let ((target (or (plist-get call :from) (plist-get call :to))))
                         (mapcar (lambda (range)
                                   (axe-lsp-code--place (plist-get target :uri) range
                                                        :name (plist-get target :name)))
                                 (if (plist-get call :from)
                                     (plist-get call :fromRanges)
                                   (list (plist-get target :selectionRange))))))
                     (append result nil))))
         (axe-lsp-code--calls server question (cdr items) deadline
                              (lambda (more) (funcall use (append calls more)))))))))

(defconst axe-lsp-code--methods
  '(("definition" :textDocument/definition :definitionProvider)
    ("references" :textDocument/references :referencesProvider)
    ("hover" :textDocument/hover :hoverProvider)
    ("symbols" :textDocument/documentSymbol :documentSymbolProvider)
    ("incomingCalls" :textDocument/prepareCallHierarchy :callHierarchyProvider)
    ("outgoingCalls" :textDocument/prepareCallHierarchy :callHierarchyProvider))
  "The method and the capability for each question.")

(defun axe-lsp-code--about (buffer params deadline use)
  "Call USE with the answer to PARAMS about BUFFER by DEADLINE."
  (let* ((question (plist-get params :question))
         (is-about-file (equal question "symbols"))
         (position (with-current-buffer buffer
                     (save-excursion
                       (save-restriction
                         (axe-lsp-code--go-to-name (or (plist-get params :line) 0)
                                                   (or (plist-get params :name) "")))))))
    (if (not (or position is-about-file))
        (funcall use '(:missing "name"))
      (axe-lsp-code--with-server
       buffer deadline
       (lambda (server)
         (pcase-let ((`(,method ,capability) (cdr (assoc question axe-lsp-code--methods))))
           (if (not (and server (not (eq server 'starting)) (axe-lsp-code--can server capability)))
               (funcall use '(:missing "server"))
             (with-current-buffer buffer
               (let ((asked (save-excursion
                              (save-restriction
                                (widen)
                                (goto-char (or position (point-min)))
                                (eglot--TextDocumentPositionParams)))))
                 (axe-lsp-code--once-started
                  server method
                  (append (if is-about-file (list :textDocument (plist-get asked :textDocument)) asked)
                          (when (equal question "references") '(:context (:includeDeclaration t))))
                  (list (float-time) deadline)
                  (lambda (result)
                    (axe-lsp-code--convert server question params result deadline use))))))))))))

(defun axe-lsp-code--once-started (server method params times use)
  "Call USE with the result of SERVER for METHOD with PARAMS.
TIMES are the begin and the deadline.  The question is put again while its
result is empty and SERVER has not answered anything yet."
  (pcase-let ((`(,begin ,deadline) times))
    (axe-lsp-code--ask
     server method params deadline
     (lambda (result is-answer)
       (let ((is-empty (or (null result) (equal result [])))
             (ends (min deadline (+ begin axe-lsp-code--start-seconds))))
         (if (and is-empty (not (axe-lsp-code--did server :answered))
                  (< (+ (float-time) axe-lsp-code--again-seconds) ends))
             (run-at-time axe-lsp-code--again-seconds nil
                          #'axe-lsp-code--once-started server method params times use)
           (when is-answer
             (axe-lsp-code--note server :answered t))
           (funcall use (unless is-empty result))))))))

(defun axe-lsp-code--convert (server question params result deadline use)
  "Call USE with the answer to QUESTION with PARAMS for RESULT.
SERVER is asked for more, by DEADLINE, if RESULT is not enough."
  (let ((answer (lambda (items) (funcall use (axe-lsp-code--limited items)))))
    (cond ((null result) (funcall answer nil))
          ((equal question "symbols")
           (funcall answer (axe-lsp-code--symbols result (plist-get params :uri))))
          ((equal question "hover") (funcall answer (axe-lsp-code--hover result)))
          ((member question '("definition" "references"))
           (funcall answer (axe-lsp-code--places result)))
          (t (axe-lsp-code--calls server question (append result nil) deadline answer)))))

(defun axe-lsp-code--symbols-of-workspace (query deadline use)
  "Call USE with the symbols that all servers find for QUERY by DEADLINE."
  (let* ((servers (cl-remove-if-not
                   (lambda (server) (and (not (axe-lsp-code--ours-p server))
                                         (axe-lsp-code--can server :workspaceSymbolProvider)))
                   (axe-lsp-code--all-servers)))
         (open (length servers))
         items)
    (if (null servers)
        (funcall use '(:missing "server"))
      (dolist (server servers)
        (axe-lsp-code--ask server :workspace/symbol (list :query query) deadline
                           (lambda (result _)
                             (setq items (append items (axe-lsp-code--symbols result nil))
                                   open (1- open))
                             (when (zerop open)
                               (funcall use (axe-lsp-code--limited items)))))))))

(defun axe-lsp-code-answer (question use)
  "Call USE with the answer to QUESTION, once it is there."
  (let* ((params (axe-lsp-code-question-params question))
         (deadline (+ (float-time) (/ (plist-get params :timeoutMs) 1000.0)))
         (uri (plist-get params :uri))
         (path (and uri (axe-lsp-runs-path uri)))
         (is-diagnostics (equal (plist-get params :question) "diagnostics"))
         (answer (lambda (answer) (funcall use (or answer eglot--{})))))
    (cond ((and (null path) is-diagnostics) (axe-lsp-code--diagnostics-of-all deadline answer))
          ((null path)
           (axe-lsp-code--symbols-of-workspace (or (plist-get params :name) "") deadline answer))
          ((not (axe-lsp-code--here-p path)) (funcall answer '(:missing "folder")))
          (t (let ((buffer (axe-lsp-code--open path (plist-get params :rootRunId))))
               (if is-diagnostics
                   (axe-lsp-code--diagnostics buffer (plist-get params :digest) deadline answer)
                 (axe-lsp-code--about buffer params deadline answer)))))))

(provide 'axe-lsp-code)
;;; axe-lsp-code.el ends here

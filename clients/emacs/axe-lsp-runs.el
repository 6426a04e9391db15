;;; axe-lsp-runs.el --- Run, preview and stop agents  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; What the user can do with agents, and which of them are at work.  Speaks
;; to servers through what the package's files for Eglot and lsp-mode say of
;; them, and knows neither of the two.

;;; Code:

(require 'axe-lsp-approve)
(require 'axe-lsp-changes)
(require 'axe-lsp-details)
(require 'axe-lsp-inputs)
(require 'axe-lsp-tree)
(require 'axe-lsp-undo)
(require 'axe-lsp-words)
(require 'cl-lib)
(require 'project)
(require 'url-util)

(defvar axe-lsp-command)

(defvar axe-lsp-server-functions nil
  "Functions that give a server for the current buffer, or any that runs.
They are called with one argument: whether only the buffer's own will do.")

(cl-defgeneric axe-lsp-send (server method params on-result)
  "Send METHOD, a string, with PARAMS to SERVER.
ON-RESULT is called with the result, as a plist.")

(defvar axe-lsp-runs--active nil
  "The runs under way and their children, the newest first.
Each is a list of its server, of the event that it began with, and of when.")

(defvar axe-lsp-runs--past nil
  "The buffers of past runs, by the ids of their roots.")

(defvar axe-lsp-runs--last nil
  "The params of the last run.")

(defvar axe-lsp-runs--clock nil
  "The timer that goes while agents are at work.")


;;; What servers tell

(defvar axe-lsp-runs-end-functions nil
  "Functions called with the id of a root run that has ended.")

(defun axe-lsp-runs-tell (server method event)
  "Show what has happened on SERVER: EVENT, the params of METHOD, a symbol."
  (setq event (axe-lsp-words-visible event))
  (cond ((and (eq method 'axe/agent) (equal (plist-get event :kind) "idle")) nil) ; It is still at work.
        ((eq method 'axe/agent) (axe-lsp-runs--follow server event))
        ((and (eq method 'axe/tool) (equal (plist-get event :kind) "end"))
         (axe-lsp-approve-end (plist-get event :runId) (plist-get event :callId))))
  (axe-lsp-tree-tell (axe-lsp-runs--buffer-of event) method event))

(defun axe-lsp-runs-lose (server)
  "Show what SERVER was making as killed, children first; it has died."
  (pcase-dolist (`(,its-server ,begun ,_) axe-lsp-runs--active)
    (when (eq its-server server)
      (axe-lsp-approve-withdraw (plist-get begun :rootRunId))
      (axe-lsp-tree-lose (axe-lsp-runs-buffer) (plist-get begun :runId))))
  (setq axe-lsp-runs--active (cl-remove server axe-lsp-runs--active :key #'car)))

(defun axe-lsp-runs-failed (code message)
  "Tell the user that a request was answered with CODE and MESSAGE."
  (unless (equal code -32800) ; The user has stopped it.
    (message "axe: %s" (axe-lsp-words-visible message))))

(defun axe-lsp-runs-buffer ()
  "Return the buffer in which this session is shown."
  (axe-lsp-tree-buffer "*axe runs*"))

(defun axe-lsp-runs--buffer-of (event)
  "Return the buffer in which EVENT is shown."
  (let ((past (alist-get (plist-get event :rootRunId) axe-lsp-runs--past nil nil #'equal)))
    (if (buffer-live-p past) past (axe-lsp-runs-buffer))))

(defun axe-lsp-runs--ask (question more)
  "Show that an agent has MORE questions, 1 or -1; QUESTION is its params."
  (axe-lsp-tree-ask (axe-lsp-runs--buffer-of question) (plist-get question :runId) more))

(add-hook 'axe-lsp-approve-functions #'axe-lsp-runs--ask)

(defun axe-lsp-runs--follow (server event)
  "Keep in mind what is under way on SERVER; EVENT is a begin, a resume or an end."
  (let ((run-id (plist-get event :runId))
        (before (or (plist-get (plist-get event :saved) :durationMs) 0)))
    ;; A run that is resumed may be under way: its process has died.
    (setq axe-lsp-runs--active
          (cl-remove run-id axe-lsp-runs--active
                     :key (lambda (run) (plist-get (cadr run) :runId)) :test #'equal))
    (if (not (equal (plist-get event :kind) "end"))
        (push (list server event (- (float-time) (/ before 1000.0))) axe-lsp-runs--active)
      (axe-lsp-approve-end run-id nil)
      (when (equal run-id (plist-get event :rootRunId))
        (axe-lsp-approve-withdraw run-id)
        (run-hook-with-args 'axe-lsp-runs-end-functions run-id))))
  (unless axe-lsp-runs--clock
    (setq axe-lsp-runs--clock (run-with-timer 1 1 #'axe-lsp-runs--tick))))

(defun axe-lsp-runs--tick ()
  "Show for how long agents have been at work."
  (if (null axe-lsp-runs--active)
      (setq axe-lsp-runs--clock (cancel-timer axe-lsp-runs--clock))
    (pcase-dolist (`(,_ ,begun ,since) axe-lsp-runs--active)
      (axe-lsp-tree-show-time (axe-lsp-runs--buffer-of begun) (plist-get begun :runId)
                              (floor (- (float-time) since))))))


;;; What the user does

(defun axe-lsp-runs--server ()
  "Return the server to be asked."
  (or (run-hook-with-args-until-success 'axe-lsp-server-functions nil)
      (let ((program (car axe-lsp-command)))
        (if (executable-find program)
            (user-error "No axe-lsp checks this buffer; `M-x eglot' in an agent file starts one")
          (user-error "`%s' is not installed: `pipx install CLONE' or `uv tool install CLONE' installs it from a clone of axe-lsp"
                      program)))))

(defun axe-lsp-runs--own-p ()
  "Whether this buffer is an agent, and a server knows it."
  (and buffer-file-name
       (derived-mode-p 'axe-agent-mode)
       (run-hook-with-args-until-success 'axe-lsp-server-functions t)))

(defun axe-lsp-runs--uri (path)
  "The URI of PATH."
  (concat "file://" (url-hexify-string (directory-file-name (file-truename path))
                                       url-path-allowed-chars)))

(defun axe-lsp-runs-path (uri)
  "The file that URI names."
  (decode-coding-string (url-unhex-string (string-remove-prefix "file://" uri)) 'utf-8))

(defun axe-lsp-runs--which ()
  "The agent of this buffer as params; elsewhere the one that the user names."
  (if (axe-lsp-runs--own-p)
      (list :uri (axe-lsp-runs--uri buffer-file-name))
    (list :agent (completing-read "Agent: " (axe-lsp-runs--names)))))

(defun axe-lsp-runs--names ()
  "The names of all agents."
  (let ((answer 'none))
    (axe-lsp-send (axe-lsp-runs--server) "axe/agents" nil (lambda (agents) (setq answer agents)))
    (with-timeout (2 nil)
      (while (eq answer 'none)
        (accept-process-output nil 0.02)))
    (and (not (eq answer 'none))
         (mapcar (lambda (agent) (plist-get agent :name)) answer))))

(defun axe-lsp-runs--read-task ()
  "Let the user say what is to be done, with the region below it if it is active."
  (let ((lines (and (use-region-p)
                    (buffer-substring-no-properties (region-beginning) (region-end))))
        (task (read-string (if (use-region-p) "Task, before the region: "
                             "Task (empty: its own instructions, or its input): "))))
    (string-trim (concat task (if lines (concat "\n\n" lines) "")))))

;;;###autoload
(defun axe-run (task &optional which)
  "Run an agent and show what it does.
In an agent file it is the agent of this buffer, saved or not; elsewhere you
name one.  TASK is its task, followed by the region if it is active.  If TASK
is empty, you fill in the input of an agent that has one, and any other agent
works on its own instructions.  WHICH is a plist with `:uri' or `:agent'."
  (interactive (let ((which (axe-lsp-runs--which)))
                 (list (axe-lsp-runs--read-task) which)))
  (let ((server (axe-lsp-runs--server))
        (which (or which (axe-lsp-runs--which))))
    (if (not (equal task ""))
        (axe-lsp-runs--start server (append which (list :task task)))
      (axe-lsp-send server "axe/preview" which
                    (lambda (preview)
                      (if-let ((schema (plist-get preview :inputSchema)))
                          ;; Not from within what handles the server's messages.
                          (run-at-time 0 nil #'axe-lsp-runs--start-with-input server which schema)
                        (axe-lsp-runs--start server which)))))))

(defun axe-lsp-runs--start-with-input (server which schema)
  "Run WHICH on SERVER with an input that fits SCHEMA."
  (axe-lsp-runs--start server (append which (list :input (axe-lsp-inputs-read schema)))))

(defun axe-lsp-runs--start (server params)
  "Have SERVER run an agent with PARAMS."
  (setq axe-lsp-runs--last params)
  (axe-lsp-send server "axe/run" params #'ignore)
  (display-buffer (axe-lsp-runs-buffer)))

;;;###autoload
(defun axe-run-again ()
  "Run once more what was run last."
  (interactive)
  (unless axe-lsp-runs--last
    (user-error "No agent was run yet"))
  (axe-lsp-runs--start (axe-lsp-runs--server) axe-lsp-runs--last))

;;;###autoload
(defun axe-preview (&optional which)
  "Show what a run of an agent would send, and send nothing.
WHICH is a plist with `:uri' or `:agent'; without it that is as in `axe-run'."
  (interactive)
  (axe-lsp-send (axe-lsp-runs--server) "axe/preview" (or which (axe-lsp-runs--which))
                #'axe-lsp-runs--show-preview))

(defun axe-lsp-runs--show-preview (preview)
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
  "Stop the run that is under way, or the one that you choose.
In the buffer of the runs it is the agent of the line."
  (interactive)
  (let* ((item (and (derived-mode-p 'axe-runs-mode) (axe-lsp-tree-item)))
         (run (if item (axe-lsp-runs--active-run item) (axe-lsp-runs--choose-active))))
    (axe-lsp-send (car run) "axe/stop" (list :runId (plist-get (cadr run) :runId)) #'ignore)))

(defun axe-lsp-runs--active-run (item)
  "Return the run of ITEM, which must be at work."
  (let ((run-id (plist-get (axe-lsp-run-begun (axe-lsp-item-run item)) :runId)))
    (or (cl-find run-id axe-lsp-runs--active
                 :key (lambda (run) (plist-get (cadr run) :runId)) :test #'equal)
        (user-error "This agent is not at work, or not for this Emacs"))))

(defun axe-lsp-runs--choose-active (&optional fits)
  "Return the run that is under way; of several the one that the user chooses.
FITS is called with the event of its beginning; without it the roots fit."
  (let* ((fits (or fits (lambda (begun) (null (plist-get begun :parentRunId)))))
         (roots (cl-remove-if-not (lambda (run) (funcall fits (cadr run)))
                                  axe-lsp-runs--active)))
    (cond ((null roots) (user-error "No agent is running"))
          ((null (cdr roots)) (car roots))
          (t (let ((choices (mapcar (lambda (run) (cons (axe-lsp-runs--label (cadr run)) run)) roots)))
               (cdr (assoc (completing-read "Which run? " choices nil t) choices)))))))

(defun axe-lsp-runs--label (run)
  "Describe RUN, an event or a remembered one, as no other run is described."
  (let ((began (plist-get run :began)))
    (concat (if began
                (format "%s  %s  " (axe-lsp-words-time began)
                        (if (plist-get run :waits) "waiting" (plist-get run :status)))
              "")
            (axe-lsp-words-head run)
            (format " (%s)" (substring (plist-get run :runId) 0 6)))))

;;;###autoload
(defun axe-runs ()
  "Show what happened in a past run, of this or any other editor."
  (interactive)
  (axe-lsp-runs--with-past
   #'identity "axe: no run is stored yet"
   (lambda (server run) (axe-lsp-runs--show-past server (plist-get run :rootRunId)))))

(defconst axe-lsp-runs--all-folders "runs of all folders…"
  "The last entry in a list of the runs of one project.")

(defun axe-lsp-runs--pick (past more)
  "Return the one of PAST that the user chooses; nil for the entry MORE."
  (let* ((choices (append (mapcar (lambda (run) (cons (axe-lsp-runs--label run) run)) past)
                          (and more (list (cons more nil)))))
         (newest-first (lambda (text predicate action)
                         (if (eq action 'metadata)
                             '(metadata (display-sort-function . identity))
                           (complete-with-action action choices text predicate)))))
    (cdr (assoc (completing-read "Which run? " newest-first nil t) choices))))

;;;###autoload
(defun axe-resume ()
  "Go on with a run that ended before it was completed, which you choose."
  (interactive)
  (axe-lsp-runs--with-past
   (lambda (run) (plist-get run :resumable))
   "axe: no run can be resumed"
   (lambda (server run)
     (axe-lsp-send server "axe/resume" (list :runId (plist-get run :runId)) #'ignore)
     (display-buffer (axe-lsp-runs-buffer)))))

;;;###autoload
(defun axe-reply ()
  "Send a further message in the conversation of a run that has ended.
In the buffer of the runs it is the run of the line; elsewhere you choose."
  (interactive)
  (axe-lsp-runs--with-run
   (lambda (run) (plist-get run :kept))
   "axe: the conversation of no run is kept"
   (lambda (server run)
     (let ((text (read-string (format "Reply to %s: " (axe-lsp-words-shorten (plist-get run :agent))))))
       (unless (string-blank-p text)
         (axe-lsp-send server "axe/run"
                       (list :continue (plist-get run :runId) :task text :session t)
                       #'ignore)
         (display-buffer (axe-lsp-runs-buffer)))))))

;;;###autoload
(defun axe-send (text &optional mode)
  "Send TEXT to a run at work, which gets it before its next request.
In the buffer of the runs it is the run of the line; elsewhere the one at
work, or of several the one that you choose.  MODE is \"next\", \"now\" to
break off what the run does, or \"after\" for when it would end.  A prefix
argument means \"now\", two of them \"after\"."
  (interactive
   (list (read-string "Message: ")
         (pcase current-prefix-arg ('nil "next") ('(16) "after") (_ "now"))))
  (if (string-blank-p text)
      (user-error "The message is empty")
    (let ((run (axe-lsp-runs--listening)))
      (axe-lsp-send (car run) "axe/message"
                    (list :runId (plist-get (cadr run) :runId) :text text :mode (or mode "next"))
                    #'ignore))))

(defun axe-lsp-runs--listening ()
  "Return the run of the line, the one at work, or of several the chosen one.
Side runs take messages of their own."
  (if-let ((item (and (derived-mode-p 'axe-runs-mode) (axe-lsp-tree-item))))
      (axe-lsp-runs--active-run item)
    (axe-lsp-runs--choose-active
     (lambda (begun) (or (null (plist-get begun :parentRunId)) (plist-get begun :side))))))

;;;###autoload
(defun axe-queue ()
  "Show the messages to a run that wait, and change the one that you choose.
The run is that of `axe-send'."
  (interactive)
  (let ((run (axe-lsp-runs--listening)))
    (axe-lsp-send (car run) "axe/messages" (list :runId (plist-get (cadr run) :runId))
                  (lambda (messages)
                    (run-at-time 0 nil #'axe-lsp-runs--change-message run (append messages nil))))))

(defconst axe-lsp-runs--actions
  '(("edit") ("give it now" :mode "now") ("give it before the next request" :mode "next")
    ("give it at the end of the run" :mode "after") ("remove" :text nil)) ; JSON-RPC has null for it.
  "Changes of a message that waits, with the members of their requests.")

(defun axe-lsp-runs--change-message (run messages)
  "Change the one of MESSAGES to RUN that the user chooses."
  (if (null messages)
      (message "axe: no message to %s waits" (axe-lsp-words-name (cadr run)))
    (let* ((labels (mapcar (lambda (each)
                             (cons (format "%s (%s, %s)"
                                           (axe-lsp-words-shorten (plist-get each :text))
                                           (plist-get each :mode)
                                           (substring (plist-get each :messageId) 0 4))
                                   each))
                           messages))
           (chosen (cdr (assoc (completing-read "Which message? " labels nil t) labels)))
           (action (assoc (completing-read "Change: " axe-lsp-runs--actions nil t)
                          axe-lsp-runs--actions))
           (members (or (cdr action)
                        (list :text (read-string "Message: " (plist-get chosen :text))))))
      (axe-lsp-send (car run) "axe/changeMessage"
                    (append (list :runId (plist-get (cadr run) :runId)
                                  :messageId (plist-get chosen :messageId))
                            members)
                    #'axe-lsp-runs--tell-change))))

(defun axe-lsp-runs--tell-change (result)
  "Tell the user of a message that was given before its change, by RESULT."
  (unless (eq (plist-get result :changed) t)
    (message "axe: the message was given before the change, which has no effect")))

;;;###autoload
(defun axe-undo ()
  "Show what a run has changed in files, and put them back if you agree.
In the buffer of the runs it is the run of the line; elsewhere you choose."
  (interactive)
  (axe-lsp-runs--with-run
   (lambda (run) (not (equal (plist-get run :status) "running")))
   "axe: no run has ended yet"
   (lambda (server run)
     (axe-lsp-runs-undo-part server run nil #'ignore))))

;;;###autoload
(defun axe-changes ()
  "List the files that a run has changed, to compare them and put them back.
In the buffer of the runs it is the run of the line; elsewhere you choose."
  (interactive)
  (axe-lsp-runs--with-run #'identity "axe: no run is stored yet" #'axe-lsp-changes-show))

;;;###autoload
(defun axe-test-new ()
  "Make a test of a run, and visit its case.
In the buffer of the runs it is the run of the line; elsewhere you choose."
  (interactive)
  (axe-lsp-runs--with-run
   (lambda (run) (not (equal (plist-get run :status) "running")))
   "axe: no run has ended yet"
   (lambda (server run)
     (axe-lsp-send server "axe/newTest" (list :runId (plist-get run :runId))
                   (lambda (made) (run-at-time 0 nil #'axe-lsp-runs--visit-case made))))))

(defun axe-lsp-runs--visit-case (made)
  "Visit the case that was MADE."
  (find-file-other-window (axe-lsp-runs-path (plist-get made :uri)))
  (revert-buffer t t t)
  (goto-char (point-min))
  (forward-line (1- (plist-get made :line)))
  (message "axe: %s"
           (string-join (cons (format "case \"%s\" %s" (plist-get made :case)
                                      (plist-get (elt (plist-get made :results) 0) :verdict))
                              (append (plist-get made :notes) nil))
                        "; ")))

(defun axe-lsp-runs--undo-params (run part)
  "Return the params of axe/undo for PART of RUN."
  (append (list :runId (plist-get run :runId))
          (cl-loop for name in '(:turn :fromTurn)
                   when (plist-get part name) append (list name (plist-get part name)))))

(defun axe-lsp-runs-undo-part (server run part done)
  "Put back what PART of RUN has changed, with the help of SERVER.
The differences are shown, and the user has to agree.  DONE is called with
whether all of it was put back.  PART is as for `axe-lsp-undo-agreed'."
  (axe-lsp-send server "axe/undo" (axe-lsp-runs--undo-params run part)
                (lambda (files)
                  (run-at-time 0 nil #'axe-lsp-runs--undo server run part files done))))

(defun axe-lsp-runs--undo (server run part files done)
  "Undo on SERVER what the user agrees to, of FILES that PART of RUN has changed.
DONE is called with whether all of it was put back."
  (when-let ((agreed (axe-lsp-undo-agreed (plist-get run :agent) files part)))
    (axe-lsp-send server "axe/undo" (append (axe-lsp-runs--undo-params run part) (list :agreed agreed))
                  (lambda (outcome)
                    (axe-lsp-undo-tell outcome)
                    (funcall done (seq-empty-p (plist-get outcome :left)))))))

;;;###autoload
(defun axe-fork ()
  "Fork a run that you choose: make a new one that shares its beginning."
  (interactive)
  (axe-lsp-runs--with-past
   (lambda (run) (plist-get run :kept))
   "axe: no run can be forked"
   (lambda (server run)
     (let* ((last (or (plist-get run :turns) 1))
            (turn (read-number (format "Fork %s at turn (1 to %d): "
                                (axe-lsp-words-shorten (plist-get run :agent)) last) last))
            (model (read-string "Model: " (plist-get run :model)))
            (other (unless (member model (list "" (plist-get run :model))) (list :model model))))
       (axe-lsp-runs--before-fork
        server run (list :fromTurn turn)
        (lambda ()
          (axe-lsp-send server "axe/resume"
                        (append (list :runId (plist-get run :runId) :fromTurn turn) other)
                        #'ignore)
          (display-buffer (axe-lsp-runs-buffer))))))))

(defun axe-lsp-runs--before-fork (server run part fork)
  "Call FORK, after files of RUN were put back if the user wants that.
PART is the `:fromTurn' of the fork.  SERVER is asked whether the turns from
there on have changed files that can be put back."
  (axe-lsp-send server "axe/undo" (axe-lsp-runs--undo-params run part)
                (lambda (found)
                  (if (axe-lsp-undo-files found part)
                      (run-at-time 0 nil #'axe-lsp-runs--choose-fork server run part fork)
                    (funcall fork)))))

(defconst axe-lsp-runs--fork-choices
  '("conversation" "conversation and files" "files, without a new run")
  "Parts of a run that a fork may have as before its turn.")

(defun axe-lsp-runs--choose-fork (server run part fork)
  "Ask which parts of RUN are to be as before the turn of PART.
Call FORK if there is to be a new run; SERVER puts back files."
  (let ((choice (completing-read (format "As before turn %d of %s: " (plist-get part :fromTurn)
                                         (axe-lsp-words-shorten (plist-get run :agent)))
                                 axe-lsp-runs--fork-choices nil t)))
    (if (equal choice (car axe-lsp-runs--fork-choices))
        (funcall fork)
      (axe-lsp-runs-undo-part server run part
                              (lambda (is-all)
                                (when (and is-all (equal choice (cadr axe-lsp-runs--fork-choices)))
                                  (funcall fork)))))))

(defun axe-lsp-runs--with-run (fits none use)
  "Do as `axe-lsp-runs--with-past' with FITS, NONE and USE.
In a buffer of runs the run is that of the line, whether it fits or not."
  (if-let ((item (and (derived-mode-p 'axe-runs-mode) (axe-lsp-tree-item))))
      (funcall use (axe-lsp-runs--server)
               (axe-lsp-run-begun (axe-lsp-tree-root (axe-lsp-item-run item))))
    (axe-lsp-runs--with-past fits none use)))

(defun axe-lsp-runs--with-past (fits none use)
  "Have the user choose a past run that FITS, for USE with the server and the run.
NONE is what to say if there is no such run."
  (let ((folder (if-let ((project (project-current))) (project-root project) default-directory)))
    (axe-lsp-runs--list-past (axe-lsp-runs--server) folder fits none use)))

(defun axe-lsp-runs--list-past (server folder fits none use)
  "Do as `axe-lsp-runs--with-past' with SERVER, FITS, NONE and USE.
The list has what is below FOLDER, and an entry for all folders; nil for all."
  (let ((for-all (lambda () (axe-lsp-runs--list-past server nil fits none use))))
    (axe-lsp-send
     server "axe/runs"
     (append '(:limit 200) (and folder (list :folders (vector (axe-lsp-runs--uri folder)))))
     (lambda (runs)
       (let ((fitting (cl-remove-if-not fits (append runs nil)))
             (more (and folder axe-lsp-runs--all-folders)))
         (cond ((and folder (null fitting)) (funcall for-all))
               ((null fitting) (message none))
               (t (run-at-time 0 nil
                               (lambda ()
                                 (if-let ((run (axe-lsp-runs--pick fitting more)))
                                     (funcall use server run)
                                   (funcall for-all)))))))))))

(defun axe-lsp-runs--show-past (server root)
  "Have SERVER tell of ROOT again, in a buffer of its own."
  (let ((name (format "*axe run %s*" (substring root 0 8))))
    (when (get-buffer name)
      (kill-buffer name))
    (let ((buffer (axe-lsp-tree-buffer name)))
      (setf (alist-get root axe-lsp-runs--past nil nil #'equal) buffer)
      (axe-lsp-send server "axe/subscribe" (list :runId root :after 0)
                    (lambda (_)
                      (with-current-buffer buffer (goto-char (point-min)))
                      (pop-to-buffer buffer))))))

(defun axe-runs-show ()
  "Show the whole message, arguments and result of this line."
  (interactive)
  (axe-lsp-details-show (or (axe-lsp-tree-item) (user-error "There is nothing on this line"))))

(defun axe-runs-visit ()
  "Visit the file of the agent of this line."
  (interactive)
  (let* ((item (or (axe-lsp-tree-item) (user-error "There is nothing on this line")))
         (name (plist-get (axe-lsp-run-begun (axe-lsp-item-run item)) :agent)))
    (axe-lsp-send (axe-lsp-runs--server) "axe/agents" nil
                  (lambda (agents)
                    (let* ((agent (cl-find name agents :test #'equal
                                           :key (lambda (each) (plist-get each :name))))
                           (uri (plist-get agent :uri)))
                      (if uri
                          (find-file-other-window (axe-lsp-runs-path uri))
                        (message "axe: no file defines \"%s\"" name)))))))

(define-key axe-runs-mode-map "s" #'axe-stop)
(define-key axe-runs-mode-map "r" #'axe-reply)
(define-key axe-runs-mode-map "m" #'axe-send)
(define-key axe-runs-mode-map "M" #'axe-queue)
(define-key axe-runs-mode-map "d" #'axe-changes)
(define-key axe-runs-mode-map "u" #'axe-undo)
(define-key axe-runs-mode-map "t" #'axe-test-new)
(define-key axe-runs-mode-map "g" #'axe-run-again)
(define-key axe-runs-mode-map "v" #'axe-runs-visit)
(define-key axe-runs-mode-map (kbd "RET") #'axe-runs-show)

(provide 'axe-lsp-runs)
;;; axe-lsp-runs.el ends here

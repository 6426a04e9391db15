;;; axe-lsp-approve.el --- Ask what agents want to change or to know  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; Questions are shown one after the other, without taking keys from whoever
;; is typing; `axe-answer' asks for the answer.  What else the server says is
;; taken in meanwhile, also that a question needs no answer any more.

;;; Code:

(require 'axe-lsp-words)
(require 'cl-lib)
(require 'rmc)
(require 'subr-x)

(cl-defstruct (axe-lsp-question (:constructor axe-lsp-question-create (params &optional answer key)))
  "The question of PARAMS.  ANSWER is called with the decision of the user.
The server withdraws the question by KEY."
  params answer key)

(defvar axe-lsp-approve--waiting nil
  "Questions not asked yet, the oldest first.")

(defvar axe-lsp-approve--asked nil
  "The question before the user's eyes.")

(defconst axe-lsp-approve--buffer "*axe question*"
  "Where it is shown what an agent wants to do.")

(defvar axe-lsp-approve-functions nil
  "Functions called with the params of a question, and 1 if it is new.
They are called with -1 if it is settled.")

(defun axe-lsp-approve-later (question)
  "Show QUESTION as soon as Emacs has nothing else to do."
  (setf (axe-lsp-question-params question)
        (axe-lsp-words-visible (axe-lsp-question-params question)))
  (axe-lsp-approve--announce question 1)
  (setq axe-lsp-approve--waiting (append axe-lsp-approve--waiting (list question)))
  (run-at-time 0 nil #'axe-lsp-approve--tell))

(defun axe-lsp-approve--announce (question change)
  "Call the functions that count questions for QUESTION with CHANGE.
An error in one of them keeps no agent from its answer."
  (with-demoted-errors "axe: %S"
    (run-hook-with-args 'axe-lsp-approve-functions (axe-lsp-question-params question) change)))

(defun axe-lsp-approve--settled (question)
  "QUESTION has an answer, or needs none any more."
  (axe-lsp-approve--announce question -1))

(defun axe-lsp-approve-withdraw (key)
  "Forget the questions of KEY."
  (axe-lsp-approve--withdraw-if
   (lambda (question) (equal (axe-lsp-question-key question) key))))

(defun axe-lsp-approve-end (run-id call-id)
  "Forget what the agent of RUN-ID asks about its call CALL-ID, which has ended.
Without CALL-ID the agent itself has ended."
  (axe-lsp-approve--withdraw-if
   (lambda (question)
     (let ((params (axe-lsp-question-params question)))
       (and (equal (plist-get params :runId) run-id)
            (or (null call-id) (equal (plist-get params :callId) call-id)))))))

(defun axe-lsp-approve--withdraw-if (is-it)
  "Forget the questions of which IS-IT is true."
  (let ((gone (cl-remove-if-not is-it axe-lsp-approve--waiting))
        (shown (car axe-lsp-approve--waiting)))
    (setq axe-lsp-approve--waiting (cl-remove-if is-it axe-lsp-approve--waiting))
    (mapc #'axe-lsp-approve--settled gone)
    (unless (eq shown (car axe-lsp-approve--waiting))
      (run-at-time 0 nil #'axe-lsp-approve--tell))
    (when (and axe-lsp-approve--asked (funcall is-it axe-lsp-approve--asked))
      ;; Not at once: the connection has to read the rest of what has arrived.
      (run-at-time 0 nil #'axe-lsp-approve--interrupt axe-lsp-approve--asked))))

(defun axe-lsp-approve--interrupt (question)
  "Take QUESTION from before the user's eyes."
  (when (eq question axe-lsp-approve--asked)
    (throw 'axe-lsp-approve--withdrawn nil)))

(defun axe-lsp-approve--tell ()
  "Show the oldest question, unless one is being answered.  It takes no keys."
  (unless axe-lsp-approve--asked
    (if (null axe-lsp-approve--waiting)
        (when (get-buffer axe-lsp-approve--buffer)
          (quit-windows-on axe-lsp-approve--buffer t))
      (let ((params (axe-lsp-question-params (car axe-lsp-approve--waiting))))
        (axe-lsp-approve--show params)
        (message "%s: answer with %s" (axe-lsp-words-shorten (plist-get params :reason))
                 (substitute-command-keys "\\[axe-answer]"))))))

;;;###autoload
(defun axe-answer ()
  "Answer the question that an agent asks."
  (interactive)
  (cond
   (axe-lsp-approve--asked (message "The question is being answered"))
   ((null axe-lsp-approve--waiting) (message "No agent asks anything"))
   (t (unwind-protect
          (axe-lsp-approve--settle (pop axe-lsp-approve--waiting))
        (run-at-time 0 nil #'axe-lsp-approve--tell)))))

(defun axe-lsp-approve--settle (question)
  "Ask QUESTION, and tell the answer unless it is withdrawn.
An error, and to leave all minibuffers, is to refuse: an agent without an
answer would wait until its time is over."
  (let* ((params (axe-lsp-question-params question))
         (answer (list (axe-lsp-approve--refusal params))))
    (unwind-protect
        (let ((axe-lsp-approve--asked question))
          (setq answer (catch 'axe-lsp-approve--withdrawn
                         (axe-lsp-approve--ask params))))
      (axe-lsp-approve--settled question)
      (when answer
        (funcall (axe-lsp-question-answer question) (car answer))))))

(defun axe-lsp-approve--refusal (params)
  "The answer for PARAMS of a user who gives none."
  (unless (plist-get params :question)
    '(:decision "deny")))

(defun axe-lsp-approve--ask (params)
  "Show what PARAMS are about and give a list of the user's answer.
To quit is to deny, or to give no answer to a model."
  (let ((shown (axe-lsp-approve--show params))
        (inhibit-quit nil)
        (enable-recursive-minibuffers t))
    (unwind-protect
        (list (condition-case nil
                  (if (plist-get params :question)
                      (axe-lsp-approve--read-answer params)
                    (axe-lsp-approve--read params))
                (quit (axe-lsp-approve--refusal params))))
      (quit-windows-on shown t))))

(defun axe-lsp-approve--show (params)
  "Show the command, change or question in PARAMS; gives the buffer."
  (let ((details (or (plist-get params :details) (plist-get params :question))))
    (with-current-buffer (get-buffer-create axe-lsp-approve--buffer)
      (let ((inhibit-read-only t))
        (erase-buffer)
        (insert details "\n"))
      (if (string-prefix-p "--- " (or (plist-get params :details) "")) (diff-mode) (fundamental-mode))
      (setq buffer-read-only t)
      (goto-char (point-min))
      (display-buffer (current-buffer))
      (current-buffer))))

(defun axe-lsp-approve--read (params)
  "Let the user decide about what is wanted in PARAMS."
  (pcase (car (read-multiple-choice
               (concat (axe-lsp-words-shorten (plist-get params :reason)) ":")
               `((?y "allow" "Let the agent do this.")
                 ,@(when (plist-get params :subject) ; Not about protected places, which are asked about each time.
                     `((?r ,(format "allow %s for this run" (axe-lsp-words-shorten (or (plist-get params :forRun) "the same")))
                           "Let all agents of this run do the same again.")))
                 (?n "deny" "Tell the model that it may not."))))
    (?y '(:decision "allow"))
    (?r '(:decision "allowForRun"))
    (_ (list :decision "deny" :note (read-string "Tell the agent what to do instead (may be empty): ")))))

(defun axe-lsp-approve--read-answer (params)
  "Let the user answer the question of a model in PARAMS; nil for no answer."
  (let* ((prompt (concat (axe-lsp-words-shorten (plist-get params :reason)) " (empty: no answer): "))
         (choices (append (plist-get params :choices) nil))
         (answer (if choices (completing-read prompt choices) (read-string prompt))))
    (unless (string-blank-p answer)
      (list :answer answer))))

(provide 'axe-lsp-approve)
;;; axe-lsp-approve.el ends here

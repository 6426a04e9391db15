;; The file changes of a run are shown; the user leaves them first, and then has them put back.  -*- lexical-binding: t; -*-

(load (expand-file-name "support" (file-name-directory load-file-name)))

(defvar answers (list nil t) "What the user says, who is asked whether to put files back.")

(defvar told nil "What the user was told.")

(defun agree-or-not (prompt)
  "Answer PROMPT as the user does, who has the differences before the eyes."
  (cl-assert (equal prompt "Put back 2 files as before this run of writer? ") t)
  (let ((text (with-current-buffer "*axe undo*" (buffer-string))))
    (dolist (part '("plan.txt is left: it has changed since" "+++ /dev/null" "-new"
                    "\n-Ship never.\n+Ship on Friday." "the effects of commands stay"))
      (cl-assert (string-search part text) t)))
  (pop answers))

(defun type-key (key)
  "Do what KEY does in the buffer of the past run."
  (with-current-buffer (wait-for "the past run" (lambda () (cl-find "^\\*axe run " (buffer-list)
                                                                   :key #'buffer-name
                                                                   :test #'string-match-p)))
    (wait-for "its end" (lambda () (string-search "✓ writer" (buffer-string))))
    (goto-char (1- (point-max)))
    (call-interactively (key-binding key))))

(play (lambda ()
        (open-agent)
        (let* ((folder (expand-file-name "../.." default-directory))
               (new (expand-file-name "new.txt" folder))
               (notes (find-file-noselect (expand-file-name "notes.txt" folder))))
          (cl-letf (((symbol-function 'completing-read)
                     (lambda (_ choices &rest _) (car (all-completions "" choices))))
                    ((symbol-function 'y-or-n-p) #'agree-or-not)
                    ((symbol-function 'message)
                     (lambda (form &rest more) (when form (push (apply #'format form more) told))))
                    ((symbol-function 'read-string) (lambda (&rest _) "Again?")))
            (axe-undo)
            (wait-for "the question" (lambda () (= (length answers) 1)))
            (cl-assert (file-exists-p new))
            (axe-runs)
            (type-key "u")
            (wait-for "the end of the undo" (lambda () (member "axe: 2 files put back" told)))
            (cl-assert (not (file-exists-p new)))
            (cl-assert (equal (with-current-buffer notes (buffer-string)) "Ship on Friday.\n") t)
            (type-key "u")
            (wait-for "that nothing is left to undo"
                      (lambda () (cl-find "nothing to undo in this run of writer; .*plan.txt is left: " told
                                          :test #'string-match-p)))
            (type-key "r")
            (wait-for-log "✓ writer: Again?" "No.")))))

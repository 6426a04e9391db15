;; The files that a run has changed are listed, compared, and put back: one, those of a turn, and in a fork.  -*- lexical-binding: t; -*-

(load (expand-file-name "support" (file-name-directory load-file-name)))

(defvar prompts nil "What the user was asked, the last one first.")
(defvar agrees t "Whether the user agrees to put files back.")

(defun in-list (key text)
  "Type KEY on the line of the list with TEXT."
  (with-current-buffer "*axe changes*"
    (goto-char (point-min))
    (search-forward text)
    (call-interactively (key-binding (kbd key)))))

(defun wait-for-list (&rest lines)
  "Wait until the list is LINES."
  (wait-for (format "the list %S" lines)
            (lambda ()
              (and (get-buffer "*axe changes*")
                   (equal (with-current-buffer "*axe changes*"
                            (split-string (buffer-substring-no-properties (point-min) (point-max)) "\n" t))
                          lines)))))

(play (lambda ()
        (open-agent)
        (let* ((default-directory (expand-file-name "../../" default-directory))
               (left "  M plan.txt  +1 −1  undo leaves it: it has changed since")
               (commands "  ! changes by commands are not known"))
          (cl-letf (((symbol-function 'completing-read)
                     (lambda (prompt choices &rest _)
                       (push prompt prompts)
                       (let ((all (all-completions "" choices)))
                         (if (string-prefix-p "As before" prompt)
                             (cadr all)
                           (cl-assert (equal (cdr all) '("runs of all folders…")) t)
                           (car all)))))
                    ((symbol-function 'y-or-n-p) (lambda (prompt) (push prompt prompts) agrees))
                    ((symbol-function 'read-number) (lambda (&rest _) 1))
                    ((symbol-function 'read-string) (lambda (&rest _) "")))
            (with-temp-buffer (axe-changes))
            (wait-for-list "writer: Change it · 3 files +3 −2" "  A new.txt  +1 −0" "  M notes.txt  +1 −1" left
                           "  turn 1 · 3 files +3 −2" commands)
            (in-list "RET" "notes.txt")
            (wait-for "the differences" (lambda () (get-buffer "*axe differences*")))
            (with-current-buffer "*axe differences*"
              (cl-assert (eq major-mode 'diff-mode))
              (cl-assert (string-search "\n-Ship on Friday.\n+Ship never." (buffer-string)) t))
            (let (compared)
              (cl-letf (((symbol-function 'ediff-buffers)
                         (lambda (before after)
                           (setq compared (list (with-current-buffer before (buffer-string))
                                                (with-current-buffer after (buffer-string)))))))
                (in-list "e" "notes.txt")
                (wait-for "Ediff" (lambda () compared)))
              (cl-assert (equal compared '("Ship on Friday.\n" "Ship never.\n")) t))

            (in-list "u" "new.txt")
            (wait-for-list "writer: Change it · 2 files +2 −2" "  A new.txt  +1 −0  put back" "  M notes.txt  +1 −1"
                           left "  turn 1 · 2 files +2 −2" commands)
            (cl-assert (equal (car prompts) "Put back 1 file as before this run of writer? ") t)
            (cl-assert (not (file-exists-p "new.txt")))
            (in-list "RET" "turn 1")
            (wait-for "the files of the turn"
                      (lambda () (with-current-buffer "*axe changes*"
                                   (string-search "writer: Change it · turn 1 · 2 files +2 −2" (buffer-string)))))
            (setq agrees nil)
            (in-list "u" "writer")
            (wait-for "the question" (lambda () (equal (car prompts) "Put back 1 file as before turn 1 of writer? ")))

            (setq agrees t)
            (with-temp-buffer (axe-fork))
            (wait-for-log "✓ writer: Change it" "│ No.")
            (cl-assert (equal (cadr prompts) "As before turn 1 of writer: ") t)
            (cl-assert (equal (with-temp-buffer (insert-file-contents "notes.txt") (buffer-string))
                              "Ship on Friday.\n"))))))

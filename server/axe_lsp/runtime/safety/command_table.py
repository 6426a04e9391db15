"""Facts about programs, for rules such as `run_command(git diff *)`: the options that such a rule allows.

A program is in one of three classes, and docs/settings.md describes them:

- `PROGRAMS`: programs whose options are known. Only the listed ones are allowed, by their whole names.
- `RUNNERS`: programs that execute the project's own code, such as pytest. All options are allowed, except those
  that name a program, a configuration or a place to write to.
- every other program: no option, unless the rule names it.

An option is listed only if it starts no program, writes no file, reads no configuration and opens no connection,
by the manual of the program. Options have a notation: `-q` has no value, `-n=` has one (`-n 5`, `-n5`), `-U[=]` may
have one in the same word, `-#` is a number such as `-5`. An abbreviation of a long option is not listed, so it is not allowed.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from functools import cache
from typing import Literal

from msgspec import Struct

ANY_OPERANDS = -1


class Options(Struct, frozen=True):
    """The options of a program or of one of its subcommands, with their dashes."""

    flags: frozenset[str]
    valued: frozenset[str]
    optional: frozenset[str]


class Row(Struct, frozen=True):
    """A program, or a subcommand of one, that a rule with `*` allows with these `options`.

    `operands` is how many further words it may have. `value` is a regular expression for each operand and each
    value of an option, `first` one for the first operand. One of the options `needs` must be there, if there are any.
    `runs_hooks` is for subcommands of git that start the repository's hooks: only a rule that names them allows them.
    A program that `writes` to its operands may have no protected place among them.
    """

    options: str
    operands: int = ANY_OPERANDS
    value: str = ""
    first: str = ""
    needs: tuple[str, ...] = ()
    runs_hooks: bool = False
    writes: bool = False


@cache
def options_of(notation: str) -> Options:
    """Return the options in the notation of this module."""
    words = notation.split()
    valued = frozenset(word[:-1] for word in words if word[-1] == "=")
    optional = frozenset(word[:-3] for word in words if word.endswith("[=]"))
    return Options(frozenset(word for word in words if word[-1] not in "=]"), valued, optional)


_OF_DIFF = (
    "-p -u -s -U= -w -b -a -z -R -r -t -M[=] -C[=] -B[=] -D -W -S= -G= -l= -1 -2 -3 --patch --no-patch --unified= --raw"
    " --stat[=] --shortstat --numstat --dirstat[=] --summary --compact-summary --name-only --name-status --patch-with-stat"
    " --color[=] --no-color --word-diff[=] --word-diff-regex= --color-words[=] --color-moved[=] --no-renames"
    " --find-renames[=] --find-copies[=] --diff-filter= --pickaxe-all --pickaxe-regex --relative[=] --no-relative --text"
    " --minimal --patience --histogram --diff-algorithm= --ignore-space-at-eol --ignore-space-change --ignore-all-space"
    " --ignore-blank-lines --ignore-cr-at-eol --inter-hunk-context= --function-context --exit-code --quiet"
    " --no-ext-diff --no-textconv --full-index --abbrev[=] --no-prefix --src-prefix= --dst-prefix= --check"
    " --ignore-submodules[=] --merge-base --cc -c -m --root"
)
_OF_LOG = (
    _OF_DIFF
    + " -# -n= -i -E -F -g -q -L= --oneline --graph --decorate[=] --no-decorate --all --branches[=] --tags[=]"
    " --remotes[=] --max-count= --skip= --since= --after= --until= --before= --author= --committer= --grep= --all-match"
    " --invert-grep --regexp-ignore-case --extended-regexp --fixed-strings --merges --no-merges --first-parent"
    " --min-parents= --max-parents= --reverse --follow --full-history --simplify-merges --ancestry-path[=]"
    " --topo-order --date-order --author-date-order --date= --relative-date --format= --pretty[=] --abbrev-commit"
    " --no-abbrev-commit --parents --children --left-right --cherry --cherry-pick --cherry-mark --boundary"
    " --walk-reflogs --source --notes[=] --no-notes --not --count --no-walk[=] --stdin --left-only --right-only"
)
_OF_LS = (
    "-1 -a -A -b -B -c -C -d -f -F -g -G -h -H -i -k -l -L -m -n -N -o -p -q -Q -r -R -s -S -t -u -U -v -x -X -Z -I="
    " -T= -w= --all --almost-all --author --escape --block-size= --ignore-backups --color[=] --directory --classify[=]"
    " --file-type --format= --full-time --group-directories-first --no-group --human-readable --si --hide= --inode"
    " --ignore= --kibibytes --dereference --literal --quote-name --quoting-style= --reverse --recursive --size --sort="
    " --time= --time-style= --width= --context --zero --hyperlink[=] --indicator-style= --show-control-chars"
)
_OF_GREP = (
    "-E -F -G -P -i -v -w -x -c -l -L -m= -o -q -s -b -H -h -n -Z -z -T -A= -B= -C= -a -I -r -R -U -y -e= -f= -D= -d="
    " --extended-regexp --fixed-strings --basic-regexp --perl-regexp --regexp= --file= --ignore-case --no-ignore-case"
    " --invert-match --word-regexp --line-regexp --count --color[=] --colour[=] --files-with-matches"
    " --files-without-match --max-count= --only-matching --quiet --silent --no-messages --byte-offset --with-filename"
    " --no-filename --label= --line-number --initial-tab --null --null-data --after-context= --before-context="
    " --context= --text --binary-files= --devices= --directories= --exclude= --exclude-from= --exclude-dir= --include="
    " --recursive --dereference-recursive --line-buffered --binary"
)
_OF_AWK = "-F= -v= -n -r --sandbox --field-separator= --assign= --re-interval"
_OF_CHECKSUMS = "-b -c -t -z --binary --check --text --zero --ignore-missing --quiet --status --strict --tag -w --warn"

PROGRAMS: Mapping[str, Row] = {
    # `--sandbox` forbids `system`, redirections and extensions.
    "awk": Row(_OF_AWK, needs=("--sandbox",)),
    "basename": Row("-a -s= -z --multiple --suffix= --zero"),
    "cat": Row(
        "-A -b -e -E -n -s -t -T -u -v --show-all --number-nonblank --show-ends --number --squeeze-blank --show-tabs"
        " --show-nonprinting"
    ),
    "cmp": Row(
        "-b -i= -l -n= -s --print-bytes --ignore-initial= --verbose --bytes= --quiet --silent"
    ),
    "comm": Row(
        "-1 -2 -3 -i -z --check-order --nocheck-order --output-delimiter= --total --zero-terminated"
    ),
    "cut": Row(
        "-b= -c= -d= -f= -n -s -z --bytes= --characters= --delimiter= --fields= --complement --only-delimited"
        " --output-delimiter= --zero-terminated"
    ),
    "date": Row(
        "-d= -I[=] -R -u -r= --date= --iso-8601[=] --rfc-email --rfc-3339= --utc --reference=",
        1,
        first=r"\+.*",
    ),
    "df": Row(
        "-a -B= -h -H -i -k -l -P -t= -T -x= --all --block-size= --human-readable --si --inodes --total --type="
    ),
    "diff": Row(
        "-q -s -c -C= -u -U= -e -n -y -W= -p -F= -t -T -r -N -x= -X= -S= -i -E -Z -b -w -B -I= -a -d -H --normal --brief"
        " --report-identical-files --context[=] --unified[=] --ed --rcs --side-by-side --width= --left-column"
        " --suppress-common-lines --show-c-function --show-function-line= --label= --expand-tabs --initial-tab"
        " --tabsize= --recursive --no-dereference --new-file --unidirectional-new-file --ignore-file-name-case"
        " --exclude= --exclude-from= --starting-file= --ignore-case --ignore-tab-expansion --ignore-trailing-space"
        " --ignore-space-change --ignore-all-space --ignore-blank-lines --ignore-matching-lines= --text"
        " --strip-trailing-cr --minimal --horizon-lines= --speed-large-files --color[=]"
    ),
    "dirname": Row("-z --zero"),
    "du": Row(
        "-0 -a -b -B= -c -d= -D -h -H -k -L -l -m -P -S -s -t= -x -X= --null --all --apparent-size --block-size= --bytes"
        " --total --max-depth= --human-readable --inodes --si --summarize --threshold= --time[=] --one-file-system"
        " --exclude= --exclude-from="
    ),
    "echo": Row("-n -e -E"),
    "egrep": Row(_OF_GREP),
    "expand": Row("-i -t= --initial --tabs="),
    "false": Row(""),
    "fd": Row(
        "-H -I -u -s -i -g -F -a -l -L -p -0 -d= -E= -t= -e= -S= -c= -j= -1 -q --hidden --no-ignore --no-ignore-vcs"
        " --unrestricted --case-sensitive --ignore-case --glob --regex --fixed-strings --absolute-path --list-details"
        " --follow --full-path --print0 --max-depth= --min-depth= --exact-depth= --exclude= --prune --type= --extension="
        " --size= --changed-within= --changed-before= --owner= --color= --threads= --max-results= --quiet --show-errors"
    ),
    "fgrep": Row(_OF_GREP),
    # No `-m`, `-C` (write a compiled magic file) and `-z` (starts programs to unpack).
    "file": Row(
        "-b -c -E -F= -f= -h -i -k -L -l -n -N -0 -r -s -v --brief --mime --mime-type --mime-encoding --keep-going"
        " --dereference --no-dereference --files-from= --separator= --no-pad --print0 --raw --extension --apple"
    ),
    # No actions but the ones that print: `-exec`, `-delete`, `-fprint` and `-ok` run or write.
    "find": Row(
        "-H -L -P -a -o -not -and -or -true -false -print -print0 -printf= -ls -prune -quit -depth -d -mount -xdev -follow"
        " -daystart -name= -iname= -path= -ipath= -wholename= -iwholename= -lname= -ilname= -regex= -iregex="
        " -regextype= -type= -xtype= -size= -empty -executable -readable -writable -perm= -user= -group= -uid= -gid="
        " -nouser -nogroup -newer= -anewer= -cnewer= -mtime= -atime= -ctime= -mmin= -amin= -cmin= -used= -links= -inum="
        " -samefile= -fstype= -maxdepth= -mindepth= -noleaf -ignore_readdir_race"
    ),
    "fmt": Row(
        "-c -p= -s -t -u -w= -g= --crown-margin --prefix= --split-only --tagged-paragraph --width="
    ),
    "fold": Row("-b -s -w= --bytes --spaces --width="),
    "gawk": Row(_OF_AWK, needs=("--sandbox",)),
    "grep": Row(_OF_GREP),
    "head": Row(
        "-# -c= -n= -q -v -z --bytes= --lines= --quiet --silent --verbose --zero-terminated"
    ),
    "hexdump": Row("-b -c -C -d -o -x -v -e= -n= -s= --canonical --length= --skip= --no-squeezing"),
    "id": Row("-a -g -G -n -r -u -z --group --groups --name --real --user --zero"),
    "join": Row(
        "-a= -e= -i -j= -o= -t= -v= -1= -2= --ignore-case --check-order --nocheck-order --header"
    ),
    # No `-L` (modules) and `-f` (a program in a file): a module may be the repository's.
    "jq": Row(
        "-c -n -r -j -a -s -S -C -M -e -R --compact-output --null-input --raw-output --join-output --ascii-output --slurp"
        " --sort-keys --color-output --monochrome-output --tab --indent= --raw-input --exit-status --seq --stream"
    ),
    "ls": Row(_OF_LS),
    "md5sum": Row(_OF_CHECKSUMS),
    "nl": Row(
        "-b= -d= -f= -h= -i= -l= -n= -p -s= -v= -w= --body-numbering= --number-format= --number-width="
    ),
    "od": Row(
        "-A= -j= -N= -S[=] -t= -v -w[=] -a -b -c -d -f -i -l -o -s -x --address-radix= --format= --read-bytes="
    ),
    "paste": Row("-d= -s -z --delimiters= --serial --zero-terminated"),
    "printf": Row(""),
    "pwd": Row("-L -P --logical --physical", 0),
    "readlink": Row(
        "-f -e -m -n -q -s -v -z --canonicalize --canonicalize-existing --canonicalize-missing --no-newline"
    ),
    "realpath": Row(
        "-e -m -L -P -q -s -z --canonicalize-existing --canonicalize-missing --relative-to= --relative-base="
    ),
    # No `--pre` and `--hostname-bin` (start programs) and `-z` (starts programs to unpack).
    "rg": Row(
        "-A= -B= -C= -E= -F -g= -H -I -i -j= -L -l -M= -m= -N -n -o -P -p -q -r= -S -s -T= -t= -U -u -v -w -x -a -b -c -d= -e="
        " -f= -0 -. --after-context= --before-context= --context= --encoding= --fixed-strings --glob= --iglob="
        " --with-filename --no-filename --ignore-case --threads= --follow --files-with-matches --files-without-match"
        " --max-columns= --max-count= --no-line-number --line-number --only-matching --pcre2 --pretty --quiet --replace="
        " --smart-case --case-sensitive --type-not= --type= --multiline --multiline-dotall --unrestricted --invert-match"
        " --word-regexp --line-regexp --text --byte-offset --count --count-matches --max-depth= --regexp= --file= --null"
        " --null-data --hidden --files --color= --column --no-heading --heading --json --stats --trim --vimgrep --sort="
        " --sortr= --no-ignore --no-ignore-vcs --no-ignore-parent --no-messages --no-config --max-filesize="
        " --type-list --passthru --debug --trace"
    ),
    "rev": Row("-0 --zero"),
    # `--sandbox` forbids the commands `e`, `r` and `w` in the operands.
    "sed": Row(
        "-n -e= -E -r -l= -s -u -z --sandbox --quiet --silent --expression= --regexp-extended --line-length= --separate"
        " --unbuffered --null-data --posix --debug",
        needs=("--sandbox",),
    ),
    "seq": Row("-f= -s= -w --format= --separator= --equal-width"),
    "sha1sum": Row(_OF_CHECKSUMS),
    "sha256sum": Row(_OF_CHECKSUMS),
    "sha512sum": Row(_OF_CHECKSUMS),
    "sleep": Row(""),
    # No `-o`, `-T` and `--compress-program`.
    "sort": Row(
        "-b -d -f -g -i -M -h -n -R -r -V -c -C -k= -m -s -t= -u -z -S= --ignore-leading-blanks --dictionary-order"
        " --ignore-case --general-numeric-sort --ignore-nonprinting --month-sort --human-numeric-sort --numeric-sort"
        " --random-sort --reverse --sort= --version-sort --check[=] --key= --merge --stable --field-separator= --unique"
        " --zero-terminated --buffer-size= --parallel= --debug"
    ),
    # `-safe` forbids `.shell`, other databases and extensions.
    "sqlite3": Row(
        "-safe -readonly -json -csv -header -noheader -line -list -column -box -table",
        needs=("-safe",),
        writes=True,
    ),
    "stat": Row("-L -f -c= -t --dereference --file-system --format= --printf= --terse --cached="),
    "strings": Row(
        "-a -f -n= -o -t= -e= -w -s= --all --print-file-name --bytes= --radix= --encoding="
    ),
    "tac": Row("-b -r -s= --before --regex --separator="),
    "tail": Row(
        "-# -c= -n= -q -v -z --bytes= --lines= --quiet --silent --verbose --zero-terminated"
    ),
    # Lists only. A colon names another machine, to which tar connects by a program.
    "tar": Row(
        "-t -f= -z -j -J -v --list --file= --gzip --bzip2 --xz --verbose --wildcards --exclude=",
        value=r"[^:]*",
        needs=("-t", "--list"),
    ),
    "test": Row("-e -f -d -r -w -x -s -L -h -n -z -eq -ne -lt -le -gt -ge -nt -ot -ef -a -o"),
    "tr": Row("-c -C -d -s -t --complement --delete --squeeze-repeats --truncate-set1"),
    # No `-o` and `-R` (which writes `00Tree.html` into each folder).
    "tree": Row(
        "-a -d -f -i -l -x -L= -P= -I= -p -u -g -s -h -D -F -q -N -Q -r -t -c -U -v -A -S -n -C -J -X --noreport --dirsfirst"
        " --filelimit= --prune --du --si --inodes --device --charset= --gitignore --matchdirs --ignore-case"
    ),
    "true": Row(""),
    "uname": Row("-a -s -n -r -v -m -p -i -o --all", 0),
    # A second operand is written.
    "uniq": Row(
        "-c -d -D -f= -i -s= -u -z -w= --count --repeated --all-repeated[=] --skip-fields= --group[=] --ignore-case"
        " --skip-chars= --unique --zero-terminated --check-chars=",
        1,
    ),
    "wc": Row("-c -m -l -L -w --bytes --chars --lines --max-line-length --words --total="),
    "which": Row("-a -s"),
    "whoami": Row("", 0),
    # A second operand is written, and `-r` writes bytes.
    "xxd": Row("-a -b -c= -C -d -e -E -g= -i -l= -n= -o= -p -s= -u", 1),
}
"""Programs that only read, unless their row says that they write, by name. git is in `GIT`."""

ALIASES = {
    "fdfind": "fd",
    "ggrep": "grep",
    "gsed": "sed",
    "gtar": "tar",
    "bsdtar": "tar",
}
"""Other names of programs in `PROGRAMS`."""

TAKES_BARE_OPTIONS = "tar"
"""The program whose first word may be options without a dash."""

GIT_OPTIONS = (
    "-C= -P --no-pager --no-optional-locks --literal-pathspecs --no-replace-objects --no-advice"
)
"""Options of git before its subcommand. `-c`, `--git-dir`, `--work-tree` and `--exec-path` are not among them."""

GIT: Mapping[str, Row] = {
    "add": Row(
        "-n -v -A -u -N -f --dry-run --verbose --all --no-all --update --intent-to-add --force --refresh --ignore-errors"
        " --ignore-missing --renormalize --chmod="
    ),
    "annotate": Row(
        "-b -l -t -L= -w -M[=] -C[=] -s -e --porcelain --line-porcelain --root --date="
    ),
    "bisect log": Row("", 0),
    "blame": Row(
        "-b -l -t -L= -w -M[=] -C[=] -s -e -f -n -p -c --show-name --show-number --show-email --porcelain --line-porcelain"
        " --incremental --root --date= --since= --first-parent --ignore-rev= --color-lines --color-by-age --abbrev="
    ),
    "branch": Row(
        "-a -r -v -i --all --remotes --verbose --list --show-current --contains= --no-contains= --merged= --no-merged="
        " --points-at= --sort= --format= --color[=] --no-color --column[=] --no-column --ignore-case --abbrev="
        " --no-abbrev",
        0,
    ),
    "cat-file": Row(
        "-t -s -e -p --batch-check[=] --batch-all-objects --unordered --allow-unknown-type"
    ),
    "check-attr": Row("-a -z --all --cached"),
    "check-ignore": Row("-q -v -n -z --quiet --verbose --non-matching --no-index"),
    "cherry": Row("-v"),
    "commit": Row(
        "-m= -a -q -v -s -n -u[=] --message= --all --quiet --verbose --signoff --no-signoff --amend --no-edit"
        " --allow-empty --allow-empty-message --author= --date= --dry-run --short --porcelain --long --branch --fixup="
        " --squash= --reset-author --no-gpg-sign --only --include",
        # Without a message it starts an editor, which waits for a person.
        needs=("-m", "--message", "--no-edit", "--fixup", "--dry-run"),
        runs_hooks=True,
    ),
    "config": Row(
        "-l -z --list --local --show-origin --show-scope --name-only --null --includes --no-includes --get= --get-all="
        " --get-regexp= --bool --int --path --type= --default=",
        0,
    ),
    "count-objects": Row("-v -H --verbose --human-readable", 0),
    "describe": Row(
        "--dirty[=] --broken[=] --all --tags --contains --abbrev[=] --candidates= --exact-match --long --match= --exclude="
        " --always --first-parent"
    ),
    "diff": Row(_OF_DIFF + " --cached --staged"),
    "diff-files": Row(_OF_DIFF),
    "diff-index": Row(_OF_DIFF + " --cached"),
    "diff-tree": Row(_OF_DIFF + " --no-commit-id --pretty[=] --format="),
    "fetch": Row(
        "-a -p -t -n -q -v -f --all --prune --prune-tags --tags --no-tags --quiet --verbose --force --dry-run --depth="
        " --deepen= --unshallow --progress --no-progress --no-auto-gc",
        first=r"\w[\w-]*",
        runs_hooks=True,
    ),
    "for-each-ref": Row(
        "--count= --sort= --format= --color[=] --points-at= --merged[=] --no-merged[=] --contains[=] --no-contains[=]"
        " --ignore-case"
    ),
    # No `-O` (starts a pager).
    "grep": Row(
        "-a -i -I -w -v -h -H -E -G -P -F -n -l -L -z -o -c -p -W -C= -A= -B= -e= -q -m= --cached --untracked --no-index"
        " --text --ignore-case --word-regexp --invert-match --full-name --extended-regexp --basic-regexp --perl-regexp"
        " --fixed-strings --line-number --column --files-with-matches --name-only --files-without-match --null"
        " --only-matching --count --color[=] --no-color --break --heading --show-function --function-context --context="
        " --after-context= --before-context= --threads= --and --or --not --all-match --quiet --max-depth= --max-count="
        " --exclude-standard --no-exclude-standard --no-textconv"
    ),
    "log": Row(_OF_LOG),
    "ls-files": Row(
        "-c -d -m -o -i -s -u -k -t -v -z -x= --cached --deleted --modified --others --ignored --stage --unmerged --killed"
        " --directory --no-empty-directory --eol --deduplicate --exclude= --exclude-standard --error-unmatch"
        " --full-name --abbrev[=] --format="
    ),
    "ls-tree": Row(
        "-d -r -t -l -z --long --name-only --name-status --object-only --full-name --full-tree --abbrev[=] --format="
    ),
    "merge-base": Row("-a --all --octopus --independent --is-ancestor --fork-point"),
    "name-rev": Row("--tags --refs= --exclude= --all --name-only --always --no-undefined"),
    "notes list": Row(""),
    "notes show": Row(""),
    "range-diff": Row(_OF_DIFF + " --creation-factor= --no-dual-color --left-only --right-only"),
    "reflog": Row(_OF_LOG, 0),
    "reflog show": Row(_OF_LOG),
    "remote": Row("-v --verbose", 0),
    "remote get-url": Row("--push --all"),
    "rev-list": Row(
        _OF_LOG
        + " --objects --disk-usage --header --timestamp --no-commit-header --bisect --bisect-all"
    ),
    "rev-parse": Row(
        "-q --verify --quiet --short[=] --abbrev-ref[=] --symbolic --symbolic-full-name --all --branches[=] --tags[=]"
        " --remotes[=] --git-dir --absolute-git-dir --git-common-dir --show-toplevel --show-prefix --show-cdup"
        " --show-superproject-working-tree --is-inside-work-tree --is-inside-git-dir --is-bare-repository"
        " --is-shallow-repository --show-object-format[=] --not --revs-only --no-revs --flags --no-flags"
        " --path-format= --show-ref-format"
    ),
    "shortlog": Row(
        "-n -s -e -c -w[=] --numbered --summary --email --committer --group= --format= --since= --until= --no-merges"
    ),
    "show": Row(_OF_LOG),
    "show-branch": Row(
        "-a -r --all --remotes --current --topo-order --date-order --sparse --more= --list --no-name --sha1-name"
    ),
    "show-ref": Row(
        "-d -s -q --head --tags --heads --branches --dereference --hash[=] --verify --abbrev[=] --quiet --exists"
    ),
    "stash list": Row(_OF_LOG),
    "stash show": Row(_OF_DIFF + " --include-untracked --only-untracked"),
    "status": Row(
        "-s -b -v -u[=] -z --short --branch --show-stash --porcelain[=] --long --verbose --untracked-files[=]"
        " --ignore-submodules[=] --ignored[=] --column[=] --no-column --ahead-behind --no-ahead-behind --renames"
        " --no-renames --find-renames[=]"
    ),
    "switch": Row(
        "-c= -d -q --create= --detach --quiet --guess --no-guess --no-progress", runs_hooks=True
    ),
    "tag": Row(
        "-l -n[=] -i --list --contains= --no-contains= --merged= --no-merged= --points-at= --sort= --format= --color[=]"
        " --column[=] --no-column --ignore-case",
        0,
    ),
    "version": Row("--build-options", 0),
    "whatchanged": Row(_OF_LOG),
    "worktree list": Row("-v -z --porcelain --verbose", 0),
}
"""The subcommands of git that a rule with `*` allows. Not among them is what writes to other repositories or by the
repository's configuration, such as push, pull, clone, submodule, filter-branch, daemon and send-email: a rule allows
these only as a whole command. git reads the repository's configuration, see `git_configuration.py`."""


class Runner(Struct, frozen=True):
    """A program that executes the project's own code, whatever its options are.

    `denied` are options that name a program, a configuration or a place to write to, and all their abbreviations.
    `subcommands` are the only ones allowed, as its first word, if there are any. `denied_words` are words that are not allowed anywhere; a punctuation mark is not allowed inside words.
    `style` is how the program reads `-xyz`: as several short options, as `-x` with a value, or as one option.
    """

    denied: str = ""
    subcommands: str = ""
    denied_words: str = ""
    style: Literal["cluster", "prefix", "whole"] = "cluster"


DENIED_TO_RUNNERS = (
    "-c -o -O --output --output-directory --output-dir --output-file --config --config-file --exec --execdir --execute"
    " --eval --command --init-script --plugin --basetemp --junitxml --junit-xml --log-file --override-ini --pager --shell"
    " --interpreter --python-executable --cache-dir --outdir --report-dir --stderr --stdout"
)
"""Options that no rule with `*` allows with any runner."""

_OF_PYTEST = (
    "-p --pdbcls --rootdir --confcutdir --debug --pastebin --tx --px --rsyncdir --report-log --resultlog --html --css"
    " --cov-config --cov-report --json-report-file --durations-path --benchmark-json --benchmark-storage"
    " --benchmark-autosave --benchmark-save --benchmark-histogram --benchmark-cprofile-dump --alluredir --store-durations"
    " --profile-svg --pyargs --import-file --memray-bin-path --trace-config --log-file-mode --driver --driver-path"
)
_OF_NODE = "--script-shell --node-options --userconfig --globalconfig --prefix -C --call --location --cwd --dir --cache -g --global"
_OF_SCRIPTS = (
    " --globalSetup --globalTeardown --setupFiles --setupFilesAfterEnv --runner --testRunner --reporters --resolver"
    " --transform --testEnvironment --coverageDirectory --outputFile --rootDir --roots --preset --testSequencer"
    " --testResultsProcessor --modulePaths --moduleDirectories --cacheDirectory --watchPlugins --dependencyExtractor"
    " --prettierPath --snapshotSerializers --coverageProvider --haste --environment --root --reporter --pool --execArgv"
    " --poolOptions --require --import --loader --experimental-loader --node-option --rulesdir --parser"
    " --resolve-plugins-relative-to --format --outFile --declarationDir --tsBuildInfoFile --generateTrace"
    " --generateCpuProfile -r -R"
)
"""Options of the programs that a script of `package.json` may start (jest, vitest, mocha, eslint, tsc): npm, yarn and
their like hand options on to the script."""

_SCRIPTS = "test run build lint check typecheck format start dev"
_OF_MAKE = "-E -f -I --file --makefile --include-dir --old-file --assume-old --what-if --new-file --assume-new -W"
_OF_GRADLE = "-I -b -c -D -g -p --build-file --settings-file --project-dir --gradle-user-home --system-prop --scan --include-build --project-cache-dir"
_OF_MAVEN = "-f -D -l -s -t -b -gs -gt --file --define --settings --global-settings --toolchains --global-toolchains --builder"
_OF_JEST = (
    "--globalSetup --globalTeardown --setupFiles --setupFilesAfterEnv --runner --testRunner --reporters --resolver"
    " --transform --testEnvironment --coverageDirectory --outputFile --rootDir --roots --preset --filter"
    " --testSequencer --testResultsProcessor --modulePaths --moduleDirectories --projects --cacheDirectory --watchPlugins"
    " --dependencyExtractor --prettierPath --snapshotSerializers --coverageProvider --haste --globals --environment"
    " --environmentOptions --root -r --reporter --pool --api --browser --ui --inspect --inspectBrk --execArgv --poolOptions --typecheck --attachmentsDir"
)

RUNNERS: Mapping[str, Runner] = {
    "bazel": Runner(
        "--run_under --script_path --bazelrc --output_base --output_user_root --install_base --host_jvm_args"
        " --server_javabase --override_repository --override_module --shell_executable --workspace_status_command"
        " --action_env --host_action_env --test_env --repo_env --credential_helper --python_path --extra_toolchains"
        " --build_event_text_file --build_event_json_file --build_event_binary_file --execution_log_json_file"
        " --execution_log_binary_file --execution_log_compact_file --explain --profile --symlink_prefix --disk_cache"
        " --repository_cache --registry --remote_executor --remote_cache --bes_backend",
        "build test query",
    ),
    "black": Runner("--code --stdin-filename"),
    "bun": Runner(
        _OF_NODE
        + _OF_SCRIPTS
        + " -e -p -r --preload --require --import --print --install --conditions",
        "test run",
    ),
    "cargo": Runner(
        "-C -Z --target-dir --out-dir --artifact-dir --root --manifest-path --lockfile-path --timings --build-plan",
        "b bench build c check clippy d doc fmt metadata nextest r run t test tree",
    ),
    "ctest": Runner(
        "-S -SP -D -M -T -A --script --script-new-process --build-and-test --build-makeprogram --build-config-sample --build-exe-dir --build-run-dir --test-command --output-log"
        " --output-junit --dashboard --extra-submit --overwrite --add-notes --test-dir --resource-spec-file --submit-index"
    ),
    "eslint": Runner(
        "-f --format --rulesdir --resolve-plugins-relative-to --parser --parser-options --rule --cache-location"
        " --cache-file --ext --env-info --flag"
    ),
    "go": Runner(
        "-exec -toolexec -vettool -overlay -modfile -ldflags -gcflags -asmflags -gccgoflags -compiler -pkgdir -outputdir"
        " -coverprofile -cpuprofile -memprofile -blockprofile -mutexprofile -trace -C -work -test -testlogfile -pgo"
        " -buildmode -linkshared -installsuffix -gocoverdir -fuzzcachedir -fix",
        "build list test version vet",
        style="whole",
    ),
    "gradle": Runner(_OF_GRADLE, style="prefix"),
    "jest": Runner(_OF_JEST),
    "just": Runner(
        "-f -d -s -E --justfile --working-directory --set --shell-arg --dotenv-path --dotenv-filename --chooser --cygpath --edit --init --dump -e --tempdir",
        denied_words="=",
    ),
    "make": Runner(_OF_MAKE, denied_words="="),
    "mocha": Runner(
        "-r --require --reporter -R --reporter-option --reporter-options --ui -u --loader --import --experimental-loader --package --file --spec --node-option -n"
    ),
    "mvn": Runner(_OF_MAVEN, denied_words=":", style="prefix"),
    "mypy": Runner(
        "--install-types --non-interactive --custom-typeshed-dir --custom-typing-module --shadow-file --any-exprs-report --cobertura-xml-report"
        " --html-report --linecount-report --linecoverage-report --lineprecision-report --txt-report --xml-report"
        " --xslt-html-report --xslt-txt-report --quickstart-file --timing-stats --line-checking-stats --package-root --pdb"
    ),
    "ninja": Runner("-C -f -t -d"),
    "nox": Runner(
        "-f -P --noxfile --envdir --extra-pythons --extra-python --force-python --force-pythons --report --download-python"
    ),
    "npm": Runner(_OF_NODE + _OF_SCRIPTS, "ls restart run run-script start stop t test tst"),
    "phpunit": Runner(
        "-d --bootstrap --configuration --extension --prepend --include-path --cache-directory --coverage-clover --coverage-cobertura --coverage-crap4j --coverage-html --coverage-php --coverage-text --coverage-xml --coverage-openclover --log-junit --log-otr --log-teamcity --log-events-text --log-events-verbose-text --testdox-html --testdox-text --testdox-xml --printer --loader --generate-configuration --migrate-configuration --generate-baseline --use-baseline --manifest"
    ),
    "pnpm": Runner(_OF_NODE + _OF_SCRIPTS, _SCRIPTS + " t"),
    "prettier": Runner(
        "--cache-location --find-config-path --config-path --ignore-path --plugin-search-dir --with-node-modules"
    ),
    "py.test": Runner(_OF_PYTEST),
    "pytest": Runner(_OF_PYTEST),
    "rake": Runner(
        "-e -E -f -g -I -p -r -R --rakefile --libdir --require --rakelibdir --execute-print --execute-continue --system --suppress-backtrace"
    ),
    "rspec": Runner(
        "-I -r -O -f --require --format --options --out --drb --drb-port --init --deprecation-out --profile --bisect"
    ),
    "ruff": Runner("--add-noqa --ignore-noqa-file --stdin-filename --extension"),
    "sbt": Runner("-D -J -S --java-home --sbt-dir --sbt-boot --ivy --mem", denied_words="; ! :"),
    "swift": Runner(
        "-X -Xcc -Xcxx -Xswiftc -Xlinker -Xfrontend -I -L --toolchain --sdk --destination --package-path --scratch-path --build-path --swift-sdk --swift-sdks-path --toolset --pkg-config-path --netrc-file --xunit-output --chdir -C --manifest-cache --disable-sandbox --allow-writing-to-directory",
        "build test",
    ),
    "tox": Runner(
        "-x --override --workdir --root --result-json --devenv --installpkg --discover --runner --force-dep --conf --pre"
        " --hashseed-file --plugin --parallel-live --index-url -i --sitepackages --exit-and-dump-after",
        denied_words="exec e devenv d quickstart q",
    ),
    "tsc": Runner(
        "--outDir --outFile --declarationDir --tsBuildInfoFile --generateTrace --generateCpuProfile --init --plugins --rootDir --baseUrl --mapRoot --sourceRoot --build -b"
    ),
    "unittest": Runner(),
    "vitest": Runner(_OF_JEST),
    "yarn": Runner(_OF_NODE + _OF_SCRIPTS + " -e", _SCRIPTS),
}
"""Programs that execute the code of the project, by name."""

RUNNER_ALIASES = {
    "gmake": "make",
    "bmake": "make",
    "gradlew": "gradle",
    "mvnw": "mvn",
    "dmypy": "mypy",
}

LETS_ALONE = frozenset(
    [
        "--cache",
        "--check",
        "--cookie",
        "--cov",
        "--coverage",
        "--exclude",
        "--color",
        "--code-style",
        "--watch",
    ]
)
"""Options of runners that begin as a denied one does, or the other way round, and are none."""

WRAPPERS = frozenset(
    {"command", "env", "ionice", "nice", "nohup", "setsid", "stdbuf", "time", "timeout"}
)
"""Programs that run the program that their operands name, and change nothing of what it does."""

LAUNCHERS = {
    "bundle": "exec",
    "hatch": "run",
    "npx": "",
    "pdm": "run",
    "pipenv": "run",
    "poetry": "run",
    "py": "-m",
    "python": "-m",
    "python3": "-m",
    "rye": "run",
    "uv": "run",
    "uvx": "",
}
"""The same for programs of a project's environment, with the word that comes before the program."""

RUN_OPERANDS = frozenset(
    " ".join(
        (
            "bash bun bundle bunx busybox chroot chrt command csh dash deno doas env exec fish flock hatch ionice ksh ltrace",
            "lua nice node nohup npx nsenter parallel pdm perl php pipenv pnpx poetry powershell pwsh py pypy python python3",
            "rscript ruby runuser rye script setarch setsid sh ssh stdbuf strace su sudo systemd-run taskset tclsh time",
            "timeout ts-node tsx unshare uv uvx valgrind watch xargs zsh",
        )
    ).split()
)
"""Programs that run whatever program their operands name."""

EXECUTES_OPERANDS = {
    # Other awks on Linux reject the option and end. That of BSD and macOS goes on without it.
    "awk": "--sandbox" if sys.platform == "linux" else "",
    "bc": "",
    "dc": "",
    "ed": "",
    "ex": "",
    "gawk": "--sandbox",
    "gdb": "",
    "m4": "",
    "mawk": "",
    "nawk": "",
    "original-awk": "",
    "sed": "--sandbox",
    "sqlite3": "-safe",
    "vi": "",
    "vim": "",
}
"""Programs whose operands may tell them to run or write something, as awk's `{system("x")}` does, and the option that
forbids it, "" if there is none."""
